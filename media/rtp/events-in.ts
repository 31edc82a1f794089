import { DIGITS, EVENT_BYTES, SEGMENT } from './event-names.ts'
import { timestampAhead } from './packet.ts'

/** With no packet of an event for this long its end packets are taken for lost, in ms: four of the usual updates. */
const END_LOST_MS = 200
/** An event whose timestamp lies up to this far behind the last one is a late packet of it or before it, in seconds. */
const LATE_S = 4
/** Segments of one long press that may be lost in a row: fewer than it takes for the timestamp of another press to fit by chance. */
const MOST_SEGMENTS = 31

/** Told when a digit is complete. */
export type DigitListener = (digit: string, durationMs: number) => void

/** A key press, under way or reported. */
interface Press {
  /** Source: timestamps of two are not comparable. */
  readonly ssrc: number
  readonly code: number
  readonly clockRate: number
  /** Of its last segment. */
  timestamp: number
  /** Of that segment, in timestamp units. */
  duration: number
  /** Of the segments before it. */
  before: number
  heardAt: number
  /** Its end was heard: nothing can follow. */
  ended: boolean
}

/**
 * Receives telephone-event packets (RFC 4733) and reports each key press once. An event is known by its source and its RTP timestamp
 * alone: the marker may be lost, the end comes three times or not at all, and a long press comes in segments (section 2.5.1.3), of which
 * any may be lost. The payload type may change in the middle of a press, and audio of another source may come in between.
 */
export class EventsIn {
  #listener: DigitListener
  #press: Press | undefined
  /** {@link #press} was reported; what still comes of it changes nothing. */
  #reported = false

  constructor(listener: DigitListener) {
    this.#listener = listener
  }

  /**
   * Takes one packet's payload from `start` to `end`; false when it is no event. `clockRate` is of the timestamp and the duration, in Hz.
   */
  receive(
    now: number,
    ssrc: number,
    timestamp: number,
    packet: Buffer,
    start: number,
    end: number,
    clockRate = 8000,
  ): boolean {
    if (end - start < EVENT_BYTES) return false
    const code = packet[start]!
    const isEnd = (packet[start + 1]! & 0x80) !== 0
    const duration = packet.readUInt16BE(start + 2)
    // Codes past the digits are flash hook, tones and the like: well-formed, and of no meaning here.
    if (code >= DIGITS.length) return true
    const comparable = this.#press?.ssrc === ssrc && this.#press.clockRate === clockRate
    const known = comparable ? this.#press : undefined
    const segments = known && segmentsAhead(known, code, timestamp)
    if (known && segments !== undefined) {
      // A segment from before the present one has nothing new.
      if (segments < 0) return true
      if (segments > 0) goOn(known, segments)
      known.duration = Math.max(known.duration, duration)
      known.heardAt = now
      known.ended ||= isEnd
    } else {
      if (known && isLate(known, timestamp)) return true
      this.#report()
      this.#press = { ssrc, code, clockRate, timestamp, duration, before: 0, heardAt: now, ended: isEnd }
      this.#reported = false
    }
    if (isEnd) this.#report()
    return true
  }

  /** Completes an event whose end was lost. */
  tick(now: number): void {
    if (this.#press && now - this.#press.heardAt >= END_LOST_MS) this.#report()
  }

  #report(): void {
    const press = this.#press
    if (!press || this.#reported) return
    this.#reported = true
    const { code, before, duration, clockRate } = press
    this.#listener(DIGITS[code]!, Math.round(((before + duration) * 1000) / clockRate))
  }
}

/** How many segments of the same press a packet is ahead of its last one; undefined where it is of another press. */
const segmentsAhead = (press: Press, code: number, timestamp: number): number | undefined => {
  const ahead = timestampAhead(timestamp, press.timestamp)
  if (ahead === 0) return 0
  if (code !== press.code || ahead % SEGMENT !== 0) return undefined
  const segments = ahead / SEGMENT
  if (segments > 0 && press.ended) return undefined
  return Math.abs(segments) <= MOST_SEGMENTS ? segments : undefined
}

const goOn = (press: Press, segments: number): void => {
  press.before += segments * SEGMENT
  press.timestamp = (press.timestamp + segments * SEGMENT) >>> 0
  press.duration = 0
}

const isLate = (press: Press, timestamp: number): boolean => {
  const ahead = timestampAhead(timestamp, press.timestamp)
  return ahead <= 0 && ahead > -LATE_S * press.clockRate
}
