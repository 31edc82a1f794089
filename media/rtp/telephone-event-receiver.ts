import { timestampAhead } from './packet.ts'
import { dtmfDigits, eventBytes, maxEventDuration } from './telephone-event.ts'

/** Time without a packet after which an event's end packets count as lost, in ms: four usual updates. */
const endLostMs = 200
/** Maximum age of a late packet's timestamp relative to the current event, in seconds. */
const maxLatenessS = 4
/**
 * Maximum number of consecutive lost segments of a long press. More would let the timestamp of another press
 * match by chance.
 */
const maxLostSegments = 31

/** Called when a digit is complete. */
export type DigitListener = (digit: string, durationMs: number) => void

/** Key press, in progress or reported. */
interface KeyPress {
  /** SSRC; timestamps of different sources are not comparable. */
  readonly ssrc: number
  readonly code: number
  readonly clockRate: number
  /** Timestamp of the last segment. */
  timestamp: number
  /** Duration of the last segment, in timestamp units. */
  duration: number
  /** Total duration of the earlier segments. */
  earlierDuration: number
  receivedAt: number
  /** Whether the end was received. */
  hasEnded: boolean
}

/**
 * Receiver of telephone-events (RFC 4733) that reports each key press once. Source and RTP timestamp alone
 * identify an event. The marker may be lost, and the end may arrive three times or never. A long press
 * arrives in segments (section 2.5.1.3), any of which may be lost. The payload type may change during a
 * press, and audio of another source may arrive in between.
 */
export class TelephoneEventReceiver {
  #listener: DigitListener
  #press: KeyPress | undefined
  /** Whether {@link #press} was reported; its further packets are ignored. */
  #isReported = false

  constructor(listener: DigitListener) {
    this.#listener = listener
  }

  /**
   * Processes the payload of one packet from `start` to `end`. Returns false if it is no event. `clockRate`
   * in Hz applies to timestamp and duration.
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
    if (end - start < eventBytes) return false
    const code = packet[start]!
    const isEnd = (packet[start + 1]! & 0x80) !== 0
    const duration = packet.readUInt16BE(start + 2)
    // Higher codes are events such as flash hook and tones: valid, but ignored.
    if (code >= dtmfDigits.length) return true
    const comparable = this.#press?.ssrc === ssrc && this.#press.clockRate === clockRate
    const known = comparable ? this.#press : undefined
    const segments = known && segmentsAhead(known, code, timestamp)
    if (known && segments !== undefined) {
      // A late packet of an earlier segment has no new information.
      if (segments < 0) return true
      if (segments > 0) continuePress(known, segments)
      known.duration = Math.max(known.duration, duration)
      known.receivedAt = now
      known.hasEnded ||= isEnd
    } else {
      if (known && isLate(known, timestamp)) return true
      this.#report()
      this.#press = {
        ssrc,
        code,
        clockRate,
        timestamp,
        duration,
        earlierDuration: 0,
        receivedAt: now,
        hasEnded: isEnd,
      }
      this.#isReported = false
    }
    if (isEnd) this.#report()
    return true
  }

  /** Completes an event whose end was lost. */
  tick(now: number): void {
    if (this.#press && now - this.#press.receivedAt >= endLostMs) this.#report()
  }

  #report(): void {
    const press = this.#press
    if (!press || this.#isReported) return
    this.#isReported = true
    const { code, earlierDuration: before, duration, clockRate } = press
    this.#listener(dtmfDigits[code]!, Math.round(((before + duration) * 1000) / clockRate))
  }
}

/**
 * Returns the number of segments that a packet is ahead of the press; undefined if it belongs to another
 * press.
 */
const segmentsAhead = (press: KeyPress, code: number, timestamp: number): number | undefined => {
  const ahead = timestampAhead(timestamp, press.timestamp)
  if (ahead === 0) return 0
  if (code !== press.code || ahead % maxEventDuration !== 0) return undefined
  const segments = ahead / maxEventDuration
  if (segments > 0 && press.hasEnded) return undefined
  return Math.abs(segments) <= maxLostSegments ? segments : undefined
}

const continuePress = (press: KeyPress, segments: number): void => {
  press.earlierDuration += segments * maxEventDuration
  press.timestamp = (press.timestamp + segments * maxEventDuration) >>> 0
  press.duration = 0
}

const isLate = (press: KeyPress, timestamp: number): boolean => {
  const ahead = timestampAhead(timestamp, press.timestamp)
  return ahead <= 0 && ahead > -maxLatenessS * press.clockRate
}
