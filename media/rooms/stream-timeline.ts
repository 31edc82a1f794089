/** Maximum step of the media time that counts as lateness, not as another position of the stream, in ms. */
const maxLateMs = 2000
/** Length of a window in which the fastest packet is searched, in ms. */
const windowMs = 1000
/** Delay of all packets of a window that is a gap in the stream, not a drift of its clock, in ms. */
const gapMs = 100
/** Correction per window of a clock that runs slower than the gateway's, in ms. */
const slewMs = 2

/**
 * Times of the gateway's clock that the packets of one stream belong to. They have the even steps of the
 * stream, and follow the clock for hours. The fastest packets show how the two clocks differ; the others are
 * late. Never goes back.
 */
export class StreamTimeline {
  /** Time of the clock minus media time, of the fastest packets. */
  #offset: number | undefined
  #fastest = Number.POSITIVE_INFINITY
  #windowEnd = 0
  #newest = Number.NEGATIVE_INFINITY

  /**
   * Returns the time of a packet that arrived at `now`. `mediaMs`: its time in the stream; may start
   * anywhere, and again after a jump.
   */
  at(now: number, mediaMs: number): number {
    const offset = now - mediaMs
    if (this.#offset === undefined || Math.abs(offset - this.#offset) > maxLateMs) this.#restart(now, offset)
    else if (offset < this.#offset) this.#offset = offset
    this.#fastest = Math.min(this.#fastest, offset)
    if (now >= this.#windowEnd) this.#slide(now)
    this.#newest = Math.max(this.#newest, mediaMs + this.#offset!)
    return this.#newest
  }

  #restart(now: number, offset: number): void {
    this.#offset = offset
    this.#fastest = offset
    this.#windowEnd = now + windowMs
  }

  #slide(now: number): void {
    const late = this.#fastest - this.#offset!
    this.#offset! += late > gapMs ? late : Math.min(late, slewMs)
    this.#fastest = Number.POSITIVE_INFINITY
    this.#windowEnd = now + windowMs
  }
}

/** Media time of RTP timestamps, in ms from the first one. Follows their wrap (RFC 3550 section 5.1). */
export class RtpTime {
  readonly #unitsPerMs: number
  #last: number | undefined
  #units = 0

  /** `rate` of the timestamps in Hz. */
  constructor(rate: number) {
    this.#unitsPerMs = rate / 1000
  }

  /** Returns the time of a timestamp. */
  ms(timestamp: number): number {
    this.#units += this.#last === undefined ? 0 : (timestamp - this.#last) | 0
    this.#last = timestamp
    return this.#units / this.#unitsPerMs
  }
}
