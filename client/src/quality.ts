import type { Clock, Timer } from './clock.ts'
import type { CallQuality } from './media-types.ts'

/** Interval of the measurements, in milliseconds. */
const intervalMs = 2_000

/** Limits of the better qualities; beyond the second, one bar is left. */
const limits = [
  { bars: 3, loss: 0.02, jitterMs: 30, roundTripMs: 300 },
  { bars: 2, loss: 0.06, jitterMs: 60, roundTripMs: 500 },
] as const

/** Fields of the statistics that are used, all optional (W3C Identifiers for WebRTC's Statistics API). */
interface Stats {
  readonly type: string
  readonly kind?: string
  readonly packetsReceived?: number
  readonly packetsLost?: number
  readonly jitter?: number
  readonly fractionLost?: number
  readonly roundTripTime?: number
  readonly nominated?: boolean
  readonly currentRoundTripTime?: number
}

/** Counters of one measurement. */
export interface AudioCounters {
  readonly received: number
  readonly lost: number
  readonly jitterMs: number
  /** Share of the sent packets that the far side lost, 0 to 1; 0 if unknown. */
  readonly sentLoss: number
  /** 0 if unknown. */
  readonly roundTripMs: number
}

/** Returns the counters of the audio; undefined without received audio. */
export const countersOf = (report: ReadonlyMap<string, unknown>): AudioCounters | undefined => {
  const all = [...report.values()] as Stats[]
  const ofAudio = (type: string) => all.find((each) => each.type === type && each.kind === 'audio')
  const received = ofAudio('inbound-rtp')
  if (!received) return undefined
  const sent = ofAudio('remote-inbound-rtp')
  const pair = all.find(({ type, nominated }) => type === 'candidate-pair' && nominated)
  return {
    received: received.packetsReceived ?? 0,
    lost: Math.max(0, received.packetsLost ?? 0),
    jitterMs: (received.jitter ?? 0) * 1000,
    sentLoss: sent?.fractionLost ?? 0,
    roundTripMs: (sent?.roundTripTime ?? pair?.currentRoundTripTime ?? 0) * 1000,
  }
}

/** Returns the quality between two measurements. */
export const qualityBetween = (before: AudioCounters, now: AudioCounters): CallQuality => {
  const received = now.received - before.received
  const lost = Math.max(0, now.lost - before.lost)
  const { jitterMs, roundTripMs } = now
  const receivedLoss = received + lost > 0 ? lost / (received + lost) : 1
  const loss = Math.max(receivedLoss, now.sentLoss)
  const fits = limits.find(
    (limit) => loss < limit.loss && jitterMs < limit.jitterMs && roundTripMs < limit.roundTripMs,
  )
  return { bars: received === 0 ? 0 : (fits?.bars ?? 1), loss, jitterMs, roundTripMs }
}

/** Measures the quality of a call every two seconds, between {@link start} and {@link stop}. */
export class QualityWatch {
  readonly #clock: Clock
  readonly #read: () => Promise<ReadonlyMap<string, unknown>> | undefined
  readonly #report: (quality: CallQuality) => void
  #timer: Timer | undefined
  #before: AudioCounters | undefined

  /** `read`: returns the statistics of the connection; undefined while no audio is expected. */
  constructor(
    clock: Clock,
    read: () => Promise<ReadonlyMap<string, unknown>> | undefined,
    report: (quality: CallQuality) => void,
  ) {
    this.#clock = clock
    this.#read = read
    this.#report = report
  }

  /** Idempotent. */
  start(): void {
    this.#timer ??= this.#clock.after(intervalMs, () => this.#tick())
  }

  /** Idempotent. */
  stop(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#before = undefined
  }

  #tick(): void {
    this.#timer = undefined
    this.start()
    const timer = this.#timer
    const report = this.#read()
    if (!report) this.#before = undefined
    report?.then(
      (stats) => {
        // Stopped meanwhile.
        if (this.#timer !== timer) return
        const before = this.#before
        this.#before = countersOf(stats)
        if (before && this.#before) this.#report(qualityBetween(before, this.#before))
      },
      // A closed connection has no statistics.
      () => {},
    )
  }
}
