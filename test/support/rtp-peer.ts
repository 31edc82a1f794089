import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { decode, encode, type G711, silenceByte } from '../../media/codecs/g711.ts'
import { sine } from '../../media/codecs/tone.ts'

/** Payload types as the SIPp scenarios write them. */
export const payloadTypes = { PCMU: 0, PCMA: 8, events: 101 } as const

/** A received RTP packet. */
export interface Packet {
  /** Milliseconds of the monotonic clock. */
  readonly at: number
  readonly sequence: number
  readonly timestamp: number
  readonly ssrc: number
  readonly payloadType: number
  readonly marker: boolean
  readonly payload: Uint8Array
}

/** Names of the RFC 4733 events 0 to 15. */
const keys = '0123456789*#ABCD'

const frameMs = 20
const frameSamples = 160

/** One frame of a sent digit. */
interface KeyFrame {
  /** Number of the RFC 4733 event. */
  readonly event: number
  /** Number of the frame within the digit, from 1. */
  readonly frame: number
  /** Length of the digit in frames. */
  readonly updates: number
}

/**
 * The media of a carrier: a UDP socket whose port SIPp announces. It sends a tone or digits, paced by the
 * clock, and keeps all incoming packets.
 */
export class RtpPeer {
  readonly #socket: Socket
  readonly #law: G711
  readonly packets: Packet[] = []
  #far: number | undefined
  #farHost = ''
  #tone: Uint8Array | undefined
  #toneAt = 0
  /** Remaining part of a sound that replaces the tone. */
  #speech: Uint8Array = new Uint8Array(0)
  /** Times of the packets of the last sound of {@link say}, in ms of the monotonic clock. */
  saidAt: number[] = []
  /** Returned sound: its gain, and the number of the next packet. */
  #echo: { readonly gain: number; next: number } | undefined
  #keysLeft: KeyFrame[] = []
  #sequence = Math.floor(Math.random() * 65536)
  #timestamp = Math.floor(Math.random() * 2 ** 32)
  readonly #ssrc = Math.floor(Math.random() * 2 ** 32)
  #timer: NodeJS.Timeout | undefined
  #sent = 0
  #latestMs = 0
  /** Whether the peer only returns every RTP packet unchanged to its sender. */
  echoes = false

  private static async bound(address: string): Promise<Socket> {
    for (;;) {
      const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4')
      socket.bind(0, address)
      await once(socket, 'listening')
      if (socket.address().port % 2 === 0) return socket
      socket.close()
    }
  }

  constructor(socket: Socket, law: G711) {
    this.#socket = socket
    this.#law = law
    socket.on('message', (bytes, { port }) => {
      this.#receive(bytes)
      if (this.echoes) socket.send(bytes, port, this.address)
    })
  }

  /** Opens an even port of 127.0.0.1, or of another address of this machine. */
  static async open(law: G711 = 'PCMU', address = '127.0.0.1'): Promise<RtpPeer> {
    return new RtpPeer(await RtpPeer.bound(address), law)
  }

  /** Local address for the SDP; the far side has the same address. */
  get address(): string {
    return this.#socket.address().address
  }

  /** The port for the SDP. */
  get port(): number {
    return this.#socket.address().port
  }

  /** Number of sent packets. */
  get sent(): number {
    return this.#sent
  }

  /** Longest delay of a packet because this process stalled, in ms. */
  get latestMs(): number {
    return this.#latestMs
  }

  /**
   * Starts sending to a port: a tone of `frequency` Hz, or silence for 0. `host`: address of the far side;
   * default the same address.
   */
  send(to: number | string, frequency: number, host = this.address): void {
    this.#far = Number(to)
    this.#farHost = host
    this.tone(frequency)
    if (this.#timer) return
    const began = performance.now()
    let frames = 0
    this.#timer = setInterval(() => {
      // Sends all packets that are due, however late the timer is.
      const waiting = Math.floor((performance.now() - began) / frameMs) - frames
      this.#latestMs = Math.max(this.#latestMs, (waiting - 1) * frameMs)
      const due = Math.min(10, waiting)
      for (let i = 0; i < due; i++) this.#frame()
      frames = Math.floor((performance.now() - began) / frameMs)
    }, 10)
  }

  /**
   * Changes the tone; 0 is silence. Whole seconds hold whole periods, so the tone repeats without a click.
   */
  tone(frequency: number): void {
    this.#tone =
      frequency === 0
        ? new Uint8Array(8000).fill(silenceByte[this.#law])
        : encode(this.#law, sine(frequency, 1000))
    this.#toneAt = 0
  }

  /** Repeats these samples from now on: 8000 samples per second, a whole number of packets. */
  says(samples: Int16Array): void {
    this.#tone = encode(this.#law, samples)
    this.#toneAt = 0
  }

  /** Sends a sound at 8 kHz once, in place of the tone. */
  say(samples: Int16Array): void {
    this.#speech = encode(this.#law, samples)
    this.saidAt = []
  }

  /** Whether a sound of {@link say} is still being sent. */
  get isSaying(): boolean {
    return this.#speech.length >= frameSamples
  }

  /** Returns the received sound from now on in place of the tone, weaker by `db`, and `delayMs` later. */
  returnsSound(delayMs: number, db: number): void {
    const next = Math.max(0, this.packets.length - Math.round(delayMs / frameMs))
    this.#echo = { gain: 10 ** (-db / 20), next }
  }

  /** Sends digits as RFC 4733 events in place of the tone, each for `heldMs`, with pauses of 60 ms. */
  press(digits: string, heldMs = 100): void {
    const updates = Math.round(heldMs / frameMs)
    for (const digit of digits) {
      const event = keys.indexOf(digit)
      // Each digit has one update per frame, three end packets, and a pause of three frames.
      for (let frame = 1; frame <= updates + 6; frame++) this.#keysLeft.push({ event, frame, updates })
    }
  }

  /** Whether a pressed digit is still being sent. */
  get isPressing(): boolean {
    return this.#keysLeft.length > 0
  }

  /** Stops sending, but still receives. */
  pause(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  /** Idempotent. */
  close(): void {
    this.pause()
    try {
      this.#socket.close()
    } catch {
      // The socket is already closed.
    }
  }

  #frame(): void {
    this.#timestamp = (this.#timestamp + frameSamples) >>> 0
    const key = this.#keysLeft.shift()
    if (key) this.#event(key)
    else this.#packet(payloadTypes[this.#law], this.#timestamp, false, this.#audio())
  }

  #audio(): Uint8Array {
    if (this.#speech.length >= frameSamples) {
      this.saidAt.push(performance.now())
      const said = this.#speech.subarray(0, frameSamples)
      this.#speech = this.#speech.subarray(frameSamples)
      return said
    }
    const returned = this.#echo && this.packets[this.#echo.next]
    if (this.#echo && returned) {
      this.#echo.next++
      const { gain } = this.#echo
      return encode(
        this.#law,
        decode(this.#law, returned.payload).map((sample) => sample * gain),
      )
    }
    const tone = this.#tone ?? new Uint8Array(8000).fill(silenceByte[this.#law])
    const payload = tone.subarray(this.#toneAt, this.#toneAt + frameSamples)
    this.#toneAt = (this.#toneAt + frameSamples) % tone.length
    return payload
  }

  #event({ event, frame, updates }: KeyFrame): void {
    if (frame > updates + 3) return
    // All packets of one event carry the timestamp of its start.
    const start = (this.#timestamp - (frame - 1) * frameSamples) >>> 0
    const payload = new Uint8Array([event, frame > updates ? 0x8a : 0x0a, 0, 0])
    new DataView(payload.buffer).setUint16(2, Math.min(frame, updates) * frameSamples)
    this.#packet(payloadTypes.events, start, frame === 1, payload)
  }

  #packet(payloadType: number, timestamp: number, marker: boolean, payload: Uint8Array): void {
    if (this.#far === undefined) return
    const packet = Buffer.alloc(12 + payload.length)
    packet[0] = 0x80
    packet[1] = payloadType | (marker ? 0x80 : 0)
    packet.writeUInt16BE(this.#sequence, 2)
    packet.writeUInt32BE(timestamp, 4)
    packet.writeUInt32BE(this.#ssrc, 8)
    packet.set(payload, 12)
    this.#sequence = (this.#sequence + 1) & 0xffff
    this.#sent++
    this.#socket.send(packet, this.#far, this.#farHost)
  }

  #receive(bytes: Buffer): void {
    const [first = 0, second = 0] = bytes
    if (bytes.length < 12 || first >> 6 !== 2 || (second >= 192 && second <= 223)) return
    const extension = first & 0x10 ? 4 + 4 * bytes.readUInt16BE(14 + 4 * (first & 15)) : 0
    this.packets.push({
      at: performance.now(),
      sequence: bytes.readUInt16BE(2),
      timestamp: bytes.readUInt32BE(4),
      ssrc: bytes.readUInt32BE(8),
      payloadType: second & 0x7f,
      marker: (second & 0x80) !== 0,
      payload: Uint8Array.from(bytes.subarray(12 + 4 * (first & 15) + extension)),
    })
  }
}
