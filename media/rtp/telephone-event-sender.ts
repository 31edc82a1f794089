import { dtmfDigits } from './telephone-event.ts'

/**
 * Interval between two packets of an event, in ms (RFC 4733 section 2.5.1.2), including the repeated ends.
 */
const updateMs = 50
/** Duration of a key press, in ms: two updates. */
const pressMs = 2 * updateMs
/** Duration in the first packet, in ms; zero has a special meaning. */
const firstMs = 20
/** Number of packets that carry the end (RFC 4733 section 2.5.1.4). */
const endPackets = 3
/** Interval from one digit's start to the next, in ms: the next starts with the last end packet. */
const digitMs = pressMs + (endPackets - 1) * updateMs
/** Volume of the events, in -dBm0. */
const eventVolume = 10
const pausesMs: Readonly<Record<string, number>> = { w: 500, W: 1000 }

/** One packet to send: payload, and the data for its RTP header. */
export interface EventPacket {
  /** Four bytes, valid until the next packet. */
  readonly payload: Buffer
  /** Duration so far, in units of {@link TelephoneEventSender.rate}. */
  readonly samples: number
  /** Whether this packet starts a new event. */
  readonly isFirst: boolean
}

/** Whether {@link TelephoneEventSender} can send all of `digits`. */
export function isDigits(digits: string): boolean {
  return /^[0-9A-Da-d*#wW]*$/.test(digits)
}

/**
 * Sender of digits as telephone-events (RFC 4733): two packets while the key is down, then three ends, all 50
 * ms apart. Strings are queued; each is reported when its last packet has been sent.
 */
export class TelephoneEventSender {
  #queue: { readonly digits: string; readonly done: (sent: boolean) => void }[] = []
  #position = 0
  /** Start of the digit at `#position`, and number of its packets sent. */
  #beganAt: number | undefined
  #sent = 0
  #payload = Buffer.alloc(4)
  /** Timestamp units per millisecond: 8 for telephone-event/8000. */
  rate = 8

  /** Whether anything is left to send. */
  get isBusy(): boolean {
    return this.#queue.length > 0
  }

  /** Whether a key is down or its ends are being sent, during which no audio may be sent; false in pauses. */
  get isKeyDown(): boolean {
    return this.#sent > 0
  }

  /** Queues `digits`. `done` is called once, with whether all digits were sent. Requires {@link isDigits}. */
  add(digits: string, done: (sent: boolean) => void): void {
    if (digits === '') done(true)
    else this.#queue.push({ digits, done })
  }

  /** Cancels everything queued. */
  clear(): void {
    const queue = this.#queue
    this.#queue = []
    this.#position = 0
    this.#beganAt = undefined
    this.#sent = 0
    for (const { done } of queue) done(false)
  }

  /** Sends the packets that are due, in order. */
  tick(now: number, send: (packet: EventPacket) => void): void {
    for (;;) {
      const head = this.#queue[0]
      if (!head) return
      this.#beganAt ??= now
      const character = head.digits[this.#position]!
      const pause = pausesMs[character]
      const wait = pause ?? digitMs
      if (pause === undefined) this.#press(now, character, send)
      if (now < this.#beganAt + wait) return
      // The next digit starts at the time at which this one was due to end, independent of timer delays.
      this.#beganAt += wait
      this.#sent = 0
      this.#position++
      if (this.#position < head.digits.length) continue
      this.#queue.shift()
      this.#position = 0
      if (this.#queue.length === 0) this.#beganAt = undefined
      head.done(true)
    }
  }

  #press(now: number, digit: string, send: (packet: EventPacket) => void): void {
    for (;;) {
      const at = this.#sent * updateMs
      if (at > digitMs || now < this.#beganAt! + at) return
      const first = this.#sent === 0
      const held = first ? firstMs : Math.min(at, pressMs)
      this.#sent++
      this.#payload[0] = dtmfDigits.indexOf(digit.toUpperCase())
      this.#payload[1] = (at < pressMs ? 0 : 0x80) | eventVolume
      const samples = held * this.rate
      this.#payload.writeUInt16BE(samples, 2)
      send({ payload: this.#payload, samples, isFirst: first })
    }
  }
}
