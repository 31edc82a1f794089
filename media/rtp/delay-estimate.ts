/** Character of a {@link DelayEstimate}. */
export interface DelayManner {
  /** Width of one histogram step, in ms. */
  readonly stepMs: number
  /** Share of the packets that must arrive in time. */
  readonly inTimeShare: number
  /** Initial delay in ms, a multiple of the step, and its weight in packets. */
  readonly initialMs: number
  readonly initialWeight: number
}

/** For listeners who hear every concealed packet. The initial delay fades within 200 packets, 4 s. */
export const evenManner: DelayManner = { stepMs: 10, inTimeShare: 0.99, initialMs: 40, initialWeight: 2 }
/** For machines that answer sooner the sooner they hear: begins with the least delay, and grows if needed. */
export const promptManner: DelayManner = { stepMs: 2, inTimeShare: 0.995, initialMs: 4, initialWeight: 0.5 }

/** Number of packets over which old values fade: 5 s with packets of 20 ms. */
const memoryPackets = 250
/** Length of a window. Packets are compared with the fastest packet of the last one to two windows. */
const windowMs = 10_000
/** Number of packets over which the typical transit time is averaged, and the minimum time between them. */
const typicalMemory = 12
const minArrivalMs = 5
/** Maximum deviation that counts in that average, in ms. */
const maxDeviationMs = 48
/** Number of consecutive packets beyond the maximum delay that indicates a longer path. */
const maxLateRun = 10

/**
 * Estimates the buffering delay at which nearly all packets arrive in time. Uses a fading histogram of
 * lateness relative to the fastest packet. The delay grows within a few late packets and shrinks within
 * seconds. The reference is from the last 20 s, so that the far side's clock may drift.
 */
export class DelayEstimate {
  /** Transit time of the fastest packet, in ms (arrival minus media time, meaningless in itself). */
  base = 0
  /** Transit time of a typical packet of the last moments, in ms. */
  typical = 0
  #averagedAt = Number.NEGATIVE_INFINITY
  /** Recommended delay, in ms. */
  target: number
  #min: number
  #max: number
  #manner: DelayManner
  #shares: Float64Array
  #weight: number
  #windowEnd = Number.NEGATIVE_INFINITY
  #fastest = Number.POSITIVE_INFINITY
  #fastestBefore = Number.POSITIVE_INFINITY
  #lateRun = 0
  #lateFastest = Number.POSITIVE_INFINITY

  /** Bounds of the delay, in ms. */
  constructor(min: number, max: number, manner = evenManner) {
    const { stepMs, initialMs, initialWeight } = manner
    this.#min = min
    this.#max = max
    this.#manner = manner
    this.#weight = initialWeight
    this.#shares = new Float64Array(Math.ceil(max / stepMs) + 1)
    this.target = Math.max(min, Math.min(max, initialMs))
    this.#shares[this.target / stepMs - 1] = 1
  }

  /** Adds a packet's transit time. */
  arrived(now: number, transit: number): void {
    this.#average(now, transit)
    this.#slide(now, transit)
    const lateness = transit - this.base
    this.#watch(lateness, transit)
    const { length } = this.#shares
    const at = Math.min(length - 1, Math.floor(lateness / this.#manner.stepMs))
    if (this.#weight < memoryPackets) this.#weight++
    const share = 1 / this.#weight
    for (let i = 0; i < length; i++) this.#shares[i]! *= 1 - share
    this.#shares[at]! += share
    this.#aim()
  }

  #average(now: number, transit: number): void {
    if (this.#averagedAt === Number.NEGATIVE_INFINITY) this.typical = transit
    // Packets that waited for the same reason arrive together, and count once.
    if (now - this.#averagedAt < minArrivalMs) return
    this.#averagedAt = now
    const deviation = Math.max(-maxDeviationMs, Math.min(maxDeviationMs, transit - this.typical))
    this.typical += deviation / typicalMemory
  }

  #slide(now: number, transit: number): void {
    if (now >= this.#windowEnd) {
      // After a long gap the former window is obsolete, because the clocks have drifted since.
      this.#fastestBefore = now < this.#windowEnd + windowMs ? this.#fastest : transit
      this.#fastest = transit
      this.#windowEnd = now + windowMs
    } else if (transit < this.#fastest) this.#fastest = transit
    this.base = Math.min(this.#fastest, this.#fastestBefore)
  }

  #watch(lateness: number, transit: number): void {
    if (lateness <= this.#max) {
      this.#lateRun = 0
      this.#lateFastest = Number.POSITIVE_INFINITY
      return
    }
    this.#lateRun++
    this.#lateFastest = Math.min(this.#lateFastest, transit)
    if (this.#lateRun < maxLateRun) return
    this.base = this.#fastest = this.#fastestBefore = this.#lateFastest
    this.typical = this.base
    this.#lateRun = 0
  }

  #aim(): void {
    const { stepMs, inTimeShare } = this.#manner
    let sum = 0
    let i = 0
    for (; i < this.#shares.length - 1; i++) {
      sum += this.#shares[i]!
      if (sum >= inTimeShare) break
    }
    this.target = Math.max(this.#min, Math.min(this.#max, (i + 1) * stepMs))
  }
}
