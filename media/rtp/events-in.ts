import { DIGITS, EVENT_BYTES, SEGMENT } from './event-names.ts'
import { timestampAhead } from './packet.ts'

/** With no packet of an event for this long its end packets are taken for lost, in ms: four of the usual updates. */
const END_LOST_MS = 200
/** An event whose timestamp lies up to this far behind the last one is a late packet of it or before it: 4 s. */
const LATE = 4 * 8000

/** Told when a digit is complete. */
export type DigitListener = (digit: string, durationMs: number) => void

/**
 * Receives telephone-event packets (RFC 4733) and reports each key press once. An event is known by its RTP timestamp alone: the
 * marker may be lost, the end comes three times or not at all, and a long press comes in segments.
 */
export class EventsIn {
  #listener: DigitListener
  #open: { code: number; timestamp: number; duration: number; before: number; heardAt: number } | undefined
  #last: number | undefined

  constructor(listener: DigitListener) {
    this.#listener = listener
  }

  /** Takes one packet's payload from `start` to `end`; false when it is no event. */
  receive(now: number, timestamp: number, packet: Buffer, start: number, end: number): boolean {
    if (end - start < EVENT_BYTES) return false
    const code = packet[start]!
    const isEnd = (packet[start + 1]! & 0x80) !== 0
    const duration = packet.readUInt16BE(start + 2)
    // Codes past the digits are flash hook, tones and the like: well-formed, and of no meaning here.
    if (code >= DIGITS.length) return true
    const open = this.#open
    if (open?.timestamp === timestamp) {
      open.duration = Math.max(open.duration, duration)
      open.heardAt = now
    } else if (open && open.code === code && timestampAhead(timestamp, open.timestamp) === SEGMENT) {
      open.before += SEGMENT
      open.timestamp = timestamp
      open.duration = duration
      open.heardAt = now
    } else {
      if (this.#isLate(timestamp)) return true
      this.#finish()
      this.#open = { code, timestamp, duration, before: 0, heardAt: now }
    }
    if (isEnd) this.#finish()
    return true
  }

  /** Completes an event whose end was lost. */
  tick(now: number): void {
    if (this.#open && now - this.#open.heardAt >= END_LOST_MS) this.#finish()
  }

  /** The source changed: its timestamps begin anew. What was open is complete. */
  restart(): void {
    this.#finish()
    this.#last = undefined
  }

  #isLate(timestamp: number): boolean {
    const newest = this.#open?.timestamp ?? this.#last
    if (newest === undefined) return false
    const ahead = timestampAhead(timestamp, newest)
    return ahead <= 0 && ahead > -LATE
  }

  #finish(): void {
    const open = this.#open
    if (!open) return
    this.#open = undefined
    this.#last = open.timestamp
    this.#listener(DIGITS[open.code]!, Math.round((open.before + open.duration) / 8))
  }
}
