import { DIGITS } from './event-names.ts'

/**
 * Interval between two packets of an event, in ms (RFC 4733 section 2.5.1.2), including the repeated ends.
 */
const UPDATE_MS = 50
/** Duration of a key press, in ms: two updates. */
const PRESS_MS = 2 * UPDATE_MS
/** Duration in the first packet, in ms; zero has a special meaning. */
const FIRST_MS = 20
/** Number of packets that carry the end (RFC 4733 section 2.5.1.4). */
const ENDS = 3
/** Interval from one digit's start to the next, in ms: the next starts with the last end packet. */
const DIGIT_MS = PRESS_MS + (ENDS - 1) * UPDATE_MS
/** Volume of the events, in -dBm0. */
const VOLUME = 10
const PAUSES: Readonly<Record<string, number>> = { w: 500, W: 1000 }

/** One packet to send: payload, and the data for its RTP header. */
export interface EventPacket {
  /** Four bytes, valid until the next packet. */
  readonly payload: Buffer
  /** Duration so far, in units of {@link TelephoneEventSender.rate}. */
  readonly samples: number
  /** Whether this packet starts a new event. */
  readonly first: boolean
}

/** Whether {@link TelephoneEventSender} can send all of `digits`. */
export function isDigits(digits: string): boolean {
  return /^[0-9A-Da-d*#wW]*$/.test(digits)
}

/**
 * Sender of digits as telephone-events (RFC 4733): two packets while the key is down, then three ends, all 50
 * ms apart. Strings are queued; each is reported when its last packet has been sent.
 */
export class EventsOut {
  #queue: { readonly digits: string; readonly done: (sent: boolean) => void }[] = []
  #position = 0
  /** Start of the digit at `#position`, and number of its packets sent. */
  #beganAt: number | undefined
  #sent = 0
  #payload = Buffer.alloc(4)
  /** Timestamp units per millisecond: 8 for telephone-event/8000. */
  rate = 8

  /** Whether anything is left to send. */
  get busy(): boolean {
    return this.#queue.length > 0
  }

  /** Whether a key is down or its ends are being sent, during which no audio may be sent; false in pauses. */
  get sounding(): boolean {
    return this.#sent > 0
  }

  /** Queues `digits`; `done` is called once. Requires {@link isDigits}. */
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
      const pause = PAUSES[character]
      const wait = pause ?? DIGIT_MS
      if (pause === undefined) this.#press(now, character, send)
      if (now < this.#beganAt + wait) return
      // The next digit starts when this one's end was due, independent of timer delays.
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
      const at = this.#sent * UPDATE_MS
      if (at > DIGIT_MS || now < this.#beganAt! + at) return
      const first = this.#sent === 0
      const held = first ? FIRST_MS : Math.min(at, PRESS_MS)
      this.#sent++
      this.#payload[0] = DIGITS.indexOf(digit.toUpperCase())
      this.#payload[1] = (at < PRESS_MS ? 0 : 0x80) | VOLUME
      const samples = held * this.rate
      this.#payload.writeUInt16BE(samples, 2)
      send({ payload: this.#payload, samples, first })
    }
  }
}
