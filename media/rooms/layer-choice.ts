import { PathTrial } from './path-trial.ts'

/** Layer of a program for a viewer. */
export type ProgramLayer = 'low' | 'high'

/** State of the stream towards a viewer. Counters are totals since its start. */
export interface ViewerReport {
  /** Packets sent. */
  readonly packets: number
  /** Packets that the viewer has reported missing, at once (NACK). */
  readonly missing: number
  /** Share of lost packets in the viewer's last report, 0 to 1. */
  readonly lost: number
  /** Interarrival jitter (RFC 3550 section 6.4.1) in ms. */
  readonly jitterMs: number
  /** Round trip time in ms; 0 if unknown. */
  readonly rttMs: number
}

/** Packets that a share of missing ones is taken from, at least. */
const minPackets = 20
/** Share of lost packets that shows congestion, and one that is usual without it. */
const congestedShare = 0.1
const usualShare = 0.02
/** Share of lost packets that shows congestion of the lowest layer, although no packet waits. */
const heavyShare = 0.3
/** Time of such loss before the lowest layer pauses, in ms. */
const lossyMs = 800
/** Missing packets, as a share of those sent, above which the repetitions of mediasoup are lost too. */
const floodShare = 1
/** Round trip time that shows a full queue: this one in ms, and as a multiple of the shortest. */
const longRttMs = 500
const longRttFactor = 4
/** Growth of the round trip time that is usual, and that shows a queue, in ms. */
const usualGrowthMs = 60
const queueMs = 200
/** Time without loss before a trial, in ms, and reports in succession that show no queue. */
const cleanMs = 1_000
const quietReports = 2
/** Round trip time and jitter that show a path without a queue, in ms. */
const nearMs = 150
const evenMs = 5
/** Time after which the shortest round trip time was without a queue, in ms. */
const knownMs = 20_000
/** Time in the high layer within which congestion counts as a failed trial, in ms. */
const recentMs = 15_000
/** Time after a pause for which reports may still be about the stream before it, in ms. */
const settleMs = 1_500
/**
 * Time until the next trial in ms, which doubles with each failure: after a failed trial, after congestion of
 * the high layer, and at most.
 */
const firstBackoffMs = 3_000
const fallBackoffMs = 10_000
const maxBackoffMs = 600_000
/** Pause at the step to the low layer in ms, in which the queue of the path empties. */
const minDrainMs = 500
const maxDrainMs = 2_000
/** Pause of the lowest layer in ms: the first one, and the longest. */
const firstPauseMs = 5_000
const maxPauseMs = 60_000
/** Time without a pause after which the next one is short again, in ms. */
const goodMs = 60_000

/**
 * Chooses the layer of a program for one viewer, by the viewer's reports of its stream. The low layer follows
 * congestion at once. Before the high one, a {@link PathTrial} shows whether the path has room for it. After
 * a failure the next trial waits, each time twice as long.
 *
 * Audio has precedence. At the step to the low layer, and after a trial that has lost packets, the picture
 * pauses until the queue is empty. If the path is too narrow for the lowest layer, it pauses for a longer
 * time.
 */
export class LayerChoice {
  #layer: ProgramLayer
  #trial: PathTrial | undefined
  #resumeAt: number | undefined
  #packets = 0
  #missing = 0
  #last: ViewerReport | undefined
  #hasLow: boolean
  /** Whether the last trial has passed, and nothing has failed since. */
  #isProven = false
  #since: number
  readonly #beganAt: number
  #resumedAt = Number.NEGATIVE_INFINITY
  /** Whether the last pause was long: no report about the stream before it is still on its way. */
  #isRested = false
  /** Start of the time without loss. */
  #cleanSince: number
  #minRttMs = Number.POSITIVE_INFINITY
  #lossySince: number | undefined
  /** Number of reports in succession that show a queue, and that show none. */
  #queued = 0
  #unqueued = 0
  #backoffMs = 0
  #retryAt = 0
  #pauseMs = 0

  /** Times are in ms of one clock. */
  constructor(now: number, layer: ProgramLayer) {
    this.#layer = layer
    this.#hasLow = layer === 'low'
    this.#since = now
    this.#beganAt = now
    this.#cleanSince = now
  }

  get layer(): ProgramLayer {
    return this.#layer
  }

  /** Whether the picture pauses, so that the path has room for audio. */
  get isPaused(): boolean {
    return this.#resumeAt !== undefined
  }

  /** Rate of the extra packets of a trial in bit/s; undefined without a trial. */
  get trialRate(): number | undefined {
    return this.#trial?.rate
  }

  /** Returns whether the next report is needed soon: a trial runs, a pause ends, or the high layer is new. */
  isUrgent(now: number): boolean {
    if (this.#resumeAt !== undefined) return this.#resumeAt - now < maxDrainMs
    return this.#trial !== undefined || (this.#layer === 'high' && now - this.#since < recentMs)
  }

  /**
   * Sets whether the program has a low layer; default whether the first layer is low. The high one of a
   * program that has gained a low layer needs a trial. Returns whether the layer changed.
   */
  setLow(now: number, hasLow: boolean): boolean {
    if (hasLow === this.#hasLow) return false
    this.#hasLow = hasLow
    // The pause was for the sake of a larger stream.
    if (hasLow && this.#resumeAt !== undefined) this.#resumeAt = Math.min(this.#resumeAt, now + minDrainMs)
    const layer = hasLow && !this.#isProven ? 'low' : hasLow ? this.#layer : 'high'
    return layer !== this.#layer && this.#change(now, layer)
  }

  /**
   * Applies a report. `mayTry`: whether a trial may begin. Returns whether the layer or the pause changed.
   */
  observe(now: number, report: ViewerReport, mayTry: boolean): boolean {
    const isNew = isNewer(report, this.#last)
    const isSettling = now - this.#resumedAt < settleMs
    const share = this.#take(report, isNew && !isSettling)
    if (share !== undefined && share > usualShare) this.#cleanSince = now
    if (this.#resumeAt !== undefined) return now >= this.#resumeAt && this.#resume(now)
    const isLowest = this.#layer === 'low' || !this.#hasLow
    if (isLowest && !this.#trial && this.#isTooMuch(now, share, isSettling)) return this.#pause(now)
    if (isSettling) return false
    if (!isLowest && this.#isCongested(now, report, share ?? 0)) return this.#fall(now, report)
    return this.#layer === 'low' && this.#mayRise(now, report, isNew, mayTry)
  }

  /** Takes a report. Returns the share of packets that were lost; undefined if it has hardly any packets. */
  #take(report: ViewerReport, isNew: boolean): number | undefined {
    this.#last = report
    const { rttMs, packets, missing } = report
    if (rttMs > 0) this.#minRttMs = Math.min(this.#minRttMs, rttMs)
    if (isNew && rttMs > 0) this.#countQueue(rttMs - this.#minRttMs)
    const lost = isNew ? report.lost : 0
    const sent = packets - this.#packets
    // The next report includes the packets of a few.
    if (sent < minPackets) return lost > congestedShare ? lost : undefined
    const share = (missing - this.#missing) / sent
    this.#packets = packets
    this.#missing = missing
    return Math.max(lost, share)
  }

  #countQueue(growthMs: number): void {
    this.#queued = growthMs > queueMs ? this.#queued + 1 : 0
    this.#unqueued = growthMs <= usualGrowthMs ? this.#unqueued + 1 : 0
  }

  /** Whether the path is too narrow for the lowest layer: for more than a moment. */
  #isTooMuch(now: number, share: number | undefined, isSettling: boolean): boolean {
    if (share === undefined) return false
    if (share > (isSettling && this.#isRested ? heavyShare : floodShare)) return true
    if (isSettling) return false
    const isLossy = share > heavyShare || (share > congestedShare && this.#queued > 0)
    if (!isLossy) this.#lossySince = undefined
    else this.#lossySince ??= now
    return this.#lossySince !== undefined && now - this.#lossySince >= lossyMs
  }

  #isCongested(now: number, { rttMs }: ViewerReport, share: number): boolean {
    const isFull = rttMs > longRttMs && rttMs > this.#minRttMs * longRttFactor
    return share > congestedShare || isFull || (now - this.#since < recentMs && this.#queued > 1)
  }

  #fall(now: number, report: ViewerReport): boolean {
    if (now - this.#since >= recentMs) this.#backoffMs = 0
    this.#failed(now, fallBackoffMs)
    this.#drain(now, report)
    return this.#change(now, 'low')
  }

  /** Pauses until the queue of the path is empty. */
  #drain(now: number, { rttMs }: ViewerReport): boolean {
    this.#resumeAt = now + Math.min(maxDrainMs, Math.max(minDrainMs, rttMs - this.#minRttMs))
    this.#isRested = false
    return true
  }

  #pause(now: number): boolean {
    this.#pauseMs =
      now - this.#resumedAt < goodMs ? Math.min(maxPauseMs, this.#pauseMs * 2 || firstPauseMs) : firstPauseMs
    this.#resumeAt = now + this.#pauseMs
    this.#isRested = true
    this.#isProven = false
    return true
  }

  #resume(now: number): boolean {
    this.#resumeAt = undefined
    this.#resumedAt = now
    this.#cleanSince = now
    this.#queued = 0
    this.#lossySince = undefined
    // Reports during the pause are about the stream before it.
    this.#packets = this.#last?.packets ?? 0
    this.#missing = this.#last?.missing ?? 0
    return true
  }

  #mayRise(now: number, report: ViewerReport, isNew: boolean, mayTry: boolean): boolean {
    if (this.#trial) return this.#try(now, this.#trial, report, isNew)
    const isClean = now - this.#cleanSince >= cleanMs && this.#unqueued >= quietReports
    // The first key frames fill the queue of a narrow path. Later, its shortest round trip time is known.
    const isKnown = now - this.#beganAt >= knownMs || report.rttMs <= nearMs || report.jitterMs <= evenMs
    const isReady = now >= this.#retryAt && report.packets >= minPackets
    if (isClean && isKnown && isReady && mayTry) this.#trial = new PathTrial(now, this.#minRttMs)
    return false
  }

  #try(now: number, trial: PathTrial, report: ViewerReport, isNew: boolean): boolean {
    const hasLoss = this.#cleanSince === now
    const result = trial.observe(now, { ...report, isNew, hasLoss })
    if (result === 'failed') this.#failed(now)
    if (result === 'failed' && hasLoss) return this.#drain(now, report)
    if (result !== 'passed') return false
    this.#isProven = true
    return this.#change(now, 'high')
  }

  #failed(now: number, minBackoffMs = firstBackoffMs): void {
    this.#trial = undefined
    this.#isProven = false
    this.#backoffMs = Math.min(maxBackoffMs, Math.max(minBackoffMs, this.#backoffMs * 2))
    this.#retryAt = now + this.#backoffMs
  }

  #change(now: number, layer: ProgramLayer): boolean {
    this.#trial = undefined
    this.#layer = layer
    this.#since = now
    this.#cleanSince = now
    this.#queued = 0
    return true
  }
}

/** Whether the viewer has sent another report since the last one. */
const isNewer = (report: ViewerReport, last: ViewerReport | undefined): boolean =>
  last === undefined ||
  report.lost !== last.lost ||
  report.jitterMs !== last.jitterMs ||
  report.rttMs !== last.rttMs
