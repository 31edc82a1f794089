/** Report of a viewer during a trial. */
export interface TrialReport {
  /** Interarrival jitter (RFC 3550 section 6.4.1) in ms. */
  readonly jitterMs: number
  /** Round trip time in ms; 0 if unknown. */
  readonly rttMs: number
  /** Whether the viewer has sent another report since the last call. */
  readonly isNew: boolean
  /** Whether packets were lost since the last call. */
  readonly hasLoss: boolean
}

/**
 * Rates of the extra packets, in bit/s. Each one exceeds the load before it, a small picture and audio, by at
 * most a quarter.
 */
const rates = [
  60_000, 100_000, 150_000, 200_000, 260_000, 340_000, 440_000, 580_000, 760_000, 1_000_000, 1_300_000,
] as const
/** Time of each rate in ms: at least, until reports show no queue, and at most. */
const minStageMs = 900
const maxStageMs = 5_000
/** Number of new reports before the next rate. The first one may be about the time before this rate. */
const minReports = 2
/** Growth of the round trip time in ms that is usual, and that shows a queue. */
const usualGrowthMs = 60
const queueGrowthMs = 150
/**
 * Rate of the extra packets, in bit/s, for 1 ms of jitter over a path that is just wide enough, 2 Mbit/s. The
 * packets are sent together before every second frame. They delay it by the time that the narrowest part of
 * the path needs for them, and this delay becomes the jitter.
 */
const ratePerJitterMs = 27_000
/** First rate at which the jitter is a measure, as an index. */
const firstMeasured = 1

/**
 * Trial whether a path has room for a larger stream: extra packets, first few and then more. It ends at the
 * first sign of a queue, before packets are lost, and early if the path delays the extra packets hardly at
 * all. Times are in ms of one clock.
 */
export class PathTrial {
  readonly #baseRttMs: number
  #stage = 0
  /** New reports at the present rate. */
  #reports = 0
  #stageSince: number

  /** `baseRttMs`: shortest round trip time so far. */
  constructor(now: number, baseRttMs: number) {
    this.#baseRttMs = baseRttMs
    this.#stageSince = now
  }

  /** Rate of the extra packets in bit/s. */
  get rate(): number {
    return rates[this.#stage] ?? 0
  }

  /** Applies a report. Returns `passed` if the path has room, and `failed` if it has none. */
  observe(now: number, { jitterMs, rttMs, isNew, hasLoss }: TrialReport): 'running' | 'passed' | 'failed' {
    const elapsed = now - this.#stageSince
    const growth = rttMs - this.#baseRttMs
    if (hasLoss || growth > queueGrowthMs || elapsed > maxStageMs) return 'failed'
    if (isNew) this.#reports++
    if (!isNew || elapsed < minStageMs) return 'running'
    if (this.#stage >= firstMeasured && jitterMs * ratePerJitterMs <= this.rate) return 'passed'
    if (growth > usualGrowthMs || this.#reports < minReports) return 'running'
    this.#stage++
    this.#stageSince = now
    this.#reports = 0
    return this.#stage < rates.length ? 'running' : 'passed'
  }
}
