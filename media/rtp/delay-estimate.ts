/** Width of a step of delay, in ms. */
const STEP_MS = 10
/** Share of the packets that shall come in time. */
const IN_TIME = 0.99
/** Packets over which the past fades: 5 s of 20 ms each. */
const MEMORY = 250
/** The delay to begin with, and how many packets that guess counts for. */
const FIRST_MS = 40
const FIRST_WEIGHT = 10
/** The fastest packet of the last one to two windows is what all are measured against. */
const WINDOW_MS = 10_000
/** So many packets in a row that are later than the longest delay mean that the way has become longer. */
const LATE_RUN = 10

/**
 * How long packets have to be kept so that nearly all of them come in time: a histogram of how much later than the fastest they came, in
 * which the past fades. It grows within a few late packets, and shrinks within seconds when they stop. As the fastest packet is one of the
 * last 20 s, the far side's clock may drift.
 */
export class DelayEstimate {
  /** Transit time (arrival minus media time, of no meaning in itself) of the fastest packet, in ms. */
  base = 0
  /** What the delay should be, in ms. */
  target: number
  #min: number
  #max: number
  #shares: Float64Array
  #weight = FIRST_WEIGHT
  #windowEnd = Number.NEGATIVE_INFINITY
  #fastest = Number.POSITIVE_INFINITY
  #fastestBefore = Number.POSITIVE_INFINITY
  #lateRun = 0
  #lateFastest = Number.POSITIVE_INFINITY

  /** Bounds of the delay, in ms. */
  constructor(min: number, max: number) {
    this.#min = min
    this.#max = max
    this.#shares = new Float64Array(Math.ceil(max / STEP_MS) + 1)
    this.target = Math.max(min, Math.min(max, FIRST_MS))
    this.#shares[this.target / STEP_MS - 1] = 1
  }

  /** Takes a packet's transit time. */
  arrived(now: number, transit: number): void {
    this.#slide(now, transit)
    const lateness = transit - this.base
    this.#watch(lateness, transit)
    const { length } = this.#shares
    const at = Math.min(length - 1, Math.floor(lateness / STEP_MS))
    if (this.#weight < MEMORY) this.#weight++
    const share = 1 / this.#weight
    for (let i = 0; i < length; i++) this.#shares[i]! *= 1 - share
    this.#shares[at]! += share
    this.#aim()
  }

  #slide(now: number, transit: number): void {
    if (now >= this.#windowEnd) {
      // After a long gap the former window tells nothing: the clocks have drifted since.
      this.#fastestBefore = now < this.#windowEnd + WINDOW_MS ? this.#fastest : transit
      this.#fastest = transit
      this.#windowEnd = now + WINDOW_MS
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
    if (this.#lateRun < LATE_RUN) return
    this.base = this.#fastest = this.#fastestBefore = this.#lateFastest
    this.#lateRun = 0
  }

  #aim(): void {
    let sum = 0
    let i = 0
    for (; i < this.#shares.length - 1; i++) {
      sum += this.#shares[i]!
      if (sum >= IN_TIME) break
    }
    this.target = Math.max(this.#min, Math.min(this.#max, (i + 1) * STEP_MS))
  }
}
