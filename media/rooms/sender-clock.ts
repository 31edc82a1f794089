/**
 * Maximum difference between two delays of one sender, in ms. Beyond it, a clock was set or a stream began
 * anew.
 */
const maxStepMs = 2000
/** Length of a window in which the fastest report is searched, in ms. */
const windowMs = 10_000
/** Correction per window of a clock that runs slower than the gateway's, in ms. */
const slewMs = 5
/** Number of clocks that one sender may use at a time. */
const maxClocks = 4
/** Number of streams of one producer: the sizes of a picture. */
const maxStreams = 8

/** Report of a sender on one of its streams (RFC 3550 section 6.4.1). */
export interface SenderReport {
  readonly ssrc: number
  /** Time of the sender's clock, in ms from any moment. */
  readonly senderMs: number
  /** The same time as an RTP timestamp of the stream. */
  readonly timestamp: number
}

/** Difference between the gateway's clock and a sender's, by the report that came fastest. */
class ClockOffset {
  /** Time of the gateway minus time of the sender. */
  ms: number
  #fastest = Number.POSITIVE_INFINITY
  #windowEnd: number

  constructor(now: number, senderMs: number) {
    this.ms = now - senderMs
    this.#windowEnd = now + windowMs
  }

  /** Whether something of this time may have arrived at `now`. */
  fits(now: number, senderMs: number): boolean {
    return Math.abs(now - senderMs - this.ms) <= maxStepMs
  }

  /** Learns from the time of a report that arrived at `now`. */
  hear(now: number, senderMs: number): void {
    const offset = now - senderMs
    this.ms = Math.min(this.ms, offset)
    this.#fastest = Math.min(this.#fastest, offset)
    if (now < this.#windowEnd) return
    this.ms += Math.min(this.#fastest - this.ms, slewMs)
    this.#fastest = Number.POSITIVE_INFINITY
    this.#windowEnd = now + windowMs
  }
}

/**
 * Clock of one sender, as its reports show it. All streams of the sender share it, so that they are in step
 * with each other, whatever its clock shows. A clock that jumps is another clock.
 */
export class SenderClock {
  #offsets: readonly ClockOffset[] = []

  /** Returns the offset for a report that arrived at `now`. */
  offsetFor(now: number, senderMs: number): ClockOffset {
    const known = this.#offsets.find((each) => each.fits(now, senderMs))
    const offset = known ?? new ClockOffset(now, senderMs)
    if (!known) this.#offsets = [offset, ...this.#offsets].slice(0, maxClocks)
    offset.hear(now, senderMs)
    return offset
  }
}

/** Report with the offset of the clock that it belongs to. */
interface Mark extends SenderReport {
  readonly offset: ClockOffset
  /**
   * Largest time by which the report has placed a packet after its arrival, in ms. A busy browser can report
   * a time of capture that is too late for its sound.
   */
  excessMs: number
}

/** Clock of one producer: times of the gateway's clock at which its packets were captured. */
export class StreamClock {
  readonly #sender: SenderClock
  readonly #unitsPerMs: number
  /** Latest report by SSRC: a picture in several sizes has several streams. */
  readonly #marks = new Map<number, Mark>()

  /** `rate` of the RTP timestamps in Hz. */
  constructor(sender: SenderClock, rate: number) {
    this.#sender = sender
    this.#unitsPerMs = rate / 1000
  }

  /** Processes a report that arrived at `now`. */
  report(now: number, report: SenderReport): void {
    const { ssrc, senderMs } = report
    if (!this.#marks.has(ssrc) && this.#marks.size >= maxStreams) return
    this.#marks.set(ssrc, { ...report, offset: this.#sender.offsetFor(now, senderMs), excessMs: 0 })
  }

  /**
   * Returns the time of a packet that arrived at `now`, in the 4 s before. Undefined if no report fits: none
   * has come, or the timestamps of the stream have jumped since.
   */
  at(now: number, timestamp: number): number | undefined {
    for (const mark of this.#marks.values()) {
      const sentMs = mark.senderMs + ((timestamp - mark.timestamp) | 0) / this.#unitsPerMs
      if (!mark.offset.fits(now, sentMs)) continue
      const at = sentMs + mark.offset.ms
      mark.excessMs = Math.max(mark.excessMs, at - now)
      return at - mark.excessMs
    }
    return undefined
  }
}
