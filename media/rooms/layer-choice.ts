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
/** Round trip time that shows a full queue: this one in ms, and as a multiple of the shortest. */
const longRttMs = 500
const longRttFactor = 4
/** Time without loss before the high layer, in ms: over a quick path, a jittery one, and a narrow one. */
const quickMs = 2_500
const jitteryMs = 20_000
const narrowMs = 300_000
/**
 * Jitter of a path that is not quick, in ms. A narrow path spreads the packets of a frame, which are sent
 * together. Of these, 1200 bytes take 24 ms at 400 kbit/s, and 2 ms at 5 Mbit/s.
 */
const jitteryPathMs = 10
/** Difference of round trip times by which the queue of a narrow path shows, in ms. */
const queueMs = 50
/** Time in the high layer within which congestion counts as a failed trial, in ms. */
const trialMs = 15_000
const firstBackoffMs = 10_000
const maxBackoffMs = 600_000

/**
 * Chooses the layer of a program for one viewer, by what the viewer reports of its stream. The low layer
 * follows congestion at once. The high one is tried after a time without loss, which doubles with each trial
 * that fails: each costs the viewer a moment of loss.
 */
export class LayerChoice {
  #layer: ProgramLayer
  #packets = 0
  #missing = 0
  #since: number
  /** Start of the time without loss. */
  #cleanSince: number
  #minRttMs = Number.POSITIVE_INFINITY
  #maxRttMs = 0
  #backoffMs = 0
  #retryAt = 0

  /** Times are in ms of one clock. */
  constructor(now: number, layer: ProgramLayer) {
    this.#layer = layer
    this.#since = now
    this.#cleanSince = now
  }

  get layer(): ProgramLayer {
    return this.#layer
  }

  /** Applies a report. Returns whether the layer changed. */
  observe(now: number, report: ViewerReport): boolean {
    const sent = report.packets - this.#packets
    // A stream that has not begun yet, or hardly: the next report includes its packets.
    if (sent < minPackets && report.lost <= congestedShare) return this.#mayRise(now, report)
    const share = sent > 0 ? Math.max(report.lost, (report.missing - this.#missing) / sent) : report.lost
    this.#packets = report.packets
    this.#missing = report.missing
    this.#takeRtt(report.rttMs)
    if (share > usualShare) this.#cleanSince = now
    const { rttMs } = report
    const isQueued = rttMs > longRttMs && rttMs > this.#minRttMs * longRttFactor
    if (this.#layer === 'high') return (share > congestedShare || isQueued) && this.#fall(now)
    return this.#mayRise(now, report)
  }

  #fall(now: number): boolean {
    const isTrial = now - this.#since < trialMs
    this.#backoffMs = isTrial ? Math.min(maxBackoffMs, this.#backoffMs * 2 || firstBackoffMs) : firstBackoffMs
    this.#retryAt = now + this.#backoffMs
    return this.#change(now, 'low')
  }

  #mayRise(now: number, { packets, jitterMs }: ViewerReport): boolean {
    if (this.#layer === 'high' || packets < minPackets || now < this.#retryAt) return false
    const isJittery = jitterMs >= jitteryPathMs
    const isNarrow = isJittery && this.#maxRttMs - this.#minRttMs > queueMs
    const waitMs = isNarrow ? narrowMs : isJittery ? jitteryMs : quickMs
    return now - this.#cleanSince >= waitMs && this.#change(now, 'high')
  }

  #takeRtt(rttMs: number): void {
    if (rttMs <= 0) return
    this.#minRttMs = Math.min(this.#minRttMs, rttMs)
    this.#maxRttMs = Math.max(this.#maxRttMs, rttMs)
  }

  #change(now: number, layer: ProgramLayer): boolean {
    this.#layer = layer
    this.#since = now
    this.#cleanSince = now
    // The queue of the other layer says nothing about this one.
    this.#maxRttMs = 0
    return true
  }
}
