import type { AudioCodec, FarEnd, NearEnd, PortEvent } from '../../types.ts'
import { readRtp, rtpView, writeRtpHeader } from '../packet.ts'
import { Session } from '../session.ts'
import { decoded, payloadTypeOf, type TestVoice, testCodecs, unitsOf } from './codecs.ts'

/** Packet that a session sent. */
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

  /** Returns a session with its far end at `address`; `ssrc` of the sent stream. */
  line(address: string, ssrc = 0x5e1f): TestLine {
    const line = new TestLine(this, address, ssrc)
    this.#lines.push(line)
    return line
  }

  /** Processes one frame of all lines, in the order of the engine; {@link between} stands for the mixers. */
  frame(): void {
    const framed = this.#lines.filter(({ session }) => session.isFramed)
    for (const { session } of framed) session.frameIn(this.now)
    this.between()
    for (const { session } of framed) session.frameOut(this.now)
  }

  /** Runs between incoming and outgoing frames. */
  between: () => void = () => {}

  /**
   * Simulates a thread that stalls for `ms` (whole frames) and catches up as the engine does: all frames up
   * to 200 ms, else one.
   */
  stall(ms: number): void {
    this.now += ms
    for (const line of this.#lines) line.session.tick(this.now)
    for (let due = ms > 200 ? 1 : ms / 20; due > 0; due--) this.frame()
  }

  /** Advances by `ms` in steps of 10 ms, ticking every line; `each` runs before each step of 20 ms. */
  pass(ms: number, each: (step: number) => void = () => {}): void {
    for (let gone = 0; gone < ms; gone += 10) {
      if (gone % 20 === 0) each(gone / 20)
      for (const line of this.#lines) line.session.tick(this.now)
      if (gone % 20 === 0) this.frame()
      this.now += 10
    }
  }
}

/** Session under test with its output, and its far end. */
export class TestLine {
  readonly sent: SentPacket[] = []
  readonly rtcp: { packet: Buffer; to: string; muxed: boolean }[] = []
  readonly events: PortEvent[] = []
  readonly played: number[] = []
  readonly playedAt: number[] = []
  readonly session: Session
  /** Header values of the far end's next packet. */
  next = { sequence: 100, timestamp: 4000, ssrc: 0xa11ce }
  /** Copies of sent packets, waiting to be echoed; undefined unless the far end echoes. */
  echoes: Buffer[] | undefined
  /** Path of the far end's packets; immediate by default. */
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
        timeouts: { startMs: 30_000, mediaMs: 60_000 },
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

  /** Sets the far end: by default PCMU with events as 101, on port 4000. */
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

  /** Delivers a packet of the far end. */
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

  /** Echoes the packets in {@link echoes}. */
  echo(): void {
    for (const packet of this.echoes?.splice(0) ?? [])
      this.session.receive(this.#time.now, packet, this.#address, 4000)
  }

  /** Delivers the next packet of `voice`. */
  say(voice: TestVoice): void {
    this.hear(voice.say(), {
      payloadType: payloadTypeOf(voice.codec),
      advance: unitsOf(voice.codec, voice.ptimeMs),
    })
  }

  /** Returns the decoded audio sent from packet `from` on, in that codec. */
  audio(codec: AudioCodec, from = 0): Int16Array {
    const payloadType = payloadTypeOf(codec)
    return decoded(
      codec,
      this.sent.slice(from).flatMap((packet) => (packet.payloadType === payloadType ? [packet.payload] : [])),
    )
  }

  /** Delivers one telephone-event packet of the far end. */
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

/**
 * Finds breaks in a stream: sequence numbers that are not consecutive, or timestamps that do not increase.
 * Packets of one event share a timestamp.
 */
export function discontinuities(sent: readonly SentPacket[]): string[] {
  const found: string[] = []
  for (let i = 1; i < sent.length; i++) {
    const before = sent[i - 1]!
    const packet = sent[i]!
    const step = (packet.timestamp - before.timestamp) | 0
    const sameEvent = packet.payload.length === 4 && before.payload.length === 4 && step === 0
    if (packet.sequence !== ((before.sequence + 1) & 0xffff)) found.push(`sequence at ${i}`)
    if (step <= 0 && !sameEvent) found.push(`timestamp at ${i}: ${step}`)
  }
  return found
}
