import type { AudioCodec, FarEnd, NearEnd, PortEvent } from '../types.ts'
import { readRtp, rtpView, writeRtpHeader } from './packet.ts'
import { Session } from './session.ts'
import { decoded, payloadTypeOf, type TestVoice, testCodecs, unitsOf } from './test-codecs.ts'

/** A packet that a session sent. */
export interface SentPacket {
  readonly at: number
  readonly to: string
  readonly payloadType: number
  readonly marker: boolean
  readonly sequence: number
  readonly timestamp: number
  readonly payload: Buffer
}

/** Simulated time, shared by the lines of one test. */
export class TestTime {
  now = 1_700_000_000_000
  #lines: TestLine[] = []

  /** A session with its far end at `address`; `ssrc` is that of what it sends. */
  line(address: string, ssrc = 0x5e1f): TestLine {
    const line = new TestLine(this, address, ssrc)
    this.#lines.push(line)
    return line
  }

  /** Frames of all lines now, in the order of the engine; `between` stands for the mixers. */
  frame(): void {
    const framed = this.#lines.filter(({ session }) => session.framed)
    for (const { session } of framed) session.frameIn(this.now)
    this.between()
    for (const { session } of framed) session.frameOut(this.now)
  }

  /** What runs between the frames that come in and those that go out. */
  between: () => void = () => {}

  /** The thread stands still for `ms` (whole frames), and then makes up for it as the engine does: frames of up to 200 ms, else one. */
  stall(ms: number): void {
    this.now += ms
    for (const line of this.#lines) line.session.tick(this.now)
    for (let due = ms > 200 ? 1 : ms / 20; due > 0; due--) this.frame()
  }

  /** Moves on by `ms` in steps of 10 ms, ticking every line; `each` runs before each step of 20 ms. */
  pass(ms: number, each: (step: number) => void = () => {}): void {
    for (let gone = 0; gone < ms; gone += 10) {
      if (gone % 20 === 0) each(gone / 20)
      for (const line of this.#lines) line.session.tick(this.now)
      if (gone % 20 === 0) this.frame()
      this.now += 10
    }
  }
}

/** A session for tests, what it sent and told, and its far end. */
export class TestLine {
  readonly sent: SentPacket[] = []
  readonly rtcp: { packet: Buffer; to: string; muxed: boolean }[] = []
  readonly events: PortEvent[] = []
  readonly played: number[] = []
  readonly playedAt: number[] = []
  readonly session: Session
  /** The far end's next packet. */
  next = { sequence: 100, timestamp: 4000, ssrc: 0xa11ce }
  /** Copies of the packets that were sent and wait to come back; undefined unless the far end is to echo. */
  echoes: Buffer[] | undefined
  /** How its packets come here; at once unless told otherwise. */
  way: (packet: Buffer, arrive: (packet: Buffer) => void) => void = (packet, arrive) => arrive(packet)
  #time: TestTime
  #address: string
  #ssrc: number

  constructor(time: TestTime, address: string, ssrc: number) {
    this.#time = time
    this.#address = address
    this.#ssrc = ssrc
    this.session = new Session(
      {
        anyPort: true,
        seed: { ssrc, sequence: 65_500, timestamp: 0xffff0000 },
        cname: 'test',
        patience: { startMs: 30_000, mediaMs: 60_000 },
        random: () => 0.5,
        codecs: testCodecs,
      },
      {
        rtp: (packet, offset, length, port, address) =>
          this.#take(packet.subarray(offset, offset + length), `${address}:${port}`),
        rtcp: (packet, port, address, muxed) => this.rtcp.push({ packet, to: `${address}:${port}`, muxed }),
        event: (event) => this.events.push(event),
        played: (play) => {
          this.played.push(play)
          this.playedAt.push(time.now)
        },
        wake: () => {},
      },
    )
  }

  /** Sets the far end: PCMU with events as 101, on port 4000, unless told otherwise. */
  set(far: Partial<FarEnd> = {}, near: Partial<NearEnd> = {}): void {
    const codec = far.codec ?? 'PCMU'
    const payloadType = payloadTypeOf(codec)
    this.session.setFar(
      this.#time.now,
      { codecs: [{ codec, payloadType }], telephoneEvent: 101, ...near },
      {
        address: this.#address,
        port: 4000,
        codec,
        payloadType,
        telephoneEvent: 101,
        direction: 'sendrecv',
        ...far,
      },
    )
  }

  /** A packet of the far end arrives. */
  hear(
    payload: Uint8Array = Buffer.alloc(160, 0x2a),
    options: {
      payloadType?: number
      from?: string
      port?: number
      timestamp?: number
      advance?: number
      ssrc?: number
    } = {},
  ): void {
    const packet = Buffer.alloc(12 + payload.length)
    writeRtpHeader(packet, 0, {
      payloadType: options.payloadType ?? 0,
      marker: false,
      sequence: this.next.sequence,
      timestamp: options.timestamp ?? this.next.timestamp,
      ssrc: options.ssrc ?? this.next.ssrc,
    })
    packet.set(payload, 12)
    this.next.sequence = (this.next.sequence + 1) & 0xffff
    this.next.timestamp = (this.next.timestamp + (options.advance ?? 160)) >>> 0
    const { from = this.#address, port = 4000 } = options
    this.way(packet, (each) => this.session.receive(this.#time.now, each, from, port))
  }

  /** Sends back what waits in {@link echoes}. */
  echo(): void {
    for (const packet of this.echoes?.splice(0) ?? [])
      this.session.receive(this.#time.now, packet, this.#address, 4000)
  }

  /** The far end says its next packet. */
  say(voice: TestVoice): void {
    this.hear(voice.say(), {
      payloadType: payloadTypeOf(voice.codec),
      advance: unitsOf(voice.codec, voice.ptimeMs),
    })
  }

  /** What the far end has heard from packet `from` on, in that codec. */
  audio(codec: AudioCodec, from = 0): Int16Array {
    const payloadType = payloadTypeOf(codec)
    return decoded(
      codec,
      this.sent.slice(from).flatMap((packet) => (packet.payloadType === payloadType ? [packet.payload] : [])),
    )
  }

  /** One telephone-event packet of the far end arrives. */
  hearEvent(code: number, timestamp: number, duration: number, end: boolean, payloadType = 101): void {
    const payload = Buffer.of(code, end ? 0x8a : 0x0a, duration >> 8, duration & 0xff)
    this.hear(payload, { payloadType, timestamp, advance: 0 })
  }

  #take(packet: Buffer, to: string): void {
    const view = rtpView()
    if (!readRtp(packet, view) || view.ssrc !== this.#ssrc) throw new Error('a malformed packet was sent')
    const { payloadType, marker, sequence, timestamp, start, end } = view
    this.echoes?.push(Buffer.from(packet))
    this.sent.push({
      at: this.#time.now,
      to,
      payloadType,
      marker,
      sequence,
      timestamp,
      payload: Buffer.from(packet.subarray(start, end)),
    })
  }
}

/** Where a row of packets is not one stream: sequence not the next, or timestamp not further. Repeated ones of an event may stand. */
export function discontinuities(sent: readonly SentPacket[]): string[] {
  const found: string[] = []
  for (let i = 1; i < sent.length; i++) {
    const [before, packet] = [sent[i - 1]!, sent[i]!]
    const step = (packet.timestamp - before.timestamp) | 0
    const sameEvent = packet.payload.length === 4 && before.payload.length === 4 && step === 0
    if (packet.sequence !== ((before.sequence + 1) & 0xffff)) found.push(`sequence at ${i}`)
    if (step <= 0 && !sameEvent) found.push(`timestamp at ${i}: ${step}`)
  }
  return found
}
