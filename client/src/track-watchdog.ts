import type { Clock, Timer } from './clock.ts'
import { record } from './frames.ts'

/** Time between two checks, in ms. */
const intervalMs = 1000
/** Checks without a frame after which a key frame is requested, and after which a new stream is. */
const keyFrameChecks = 2
const renewalChecks = 4

interface Counters {
  readonly packets: number
  readonly frames: number
  /** Checks in a row in which packets arrived, but no frame. */
  readonly stalled: number
}

/** Finds lines on which packets arrive, but no frame is decoded: the picture is frozen. */
export class TrackWatchdog {
  readonly #clock: Clock
  readonly #read: () => Promise<ReadonlyMap<string, unknown>> | undefined
  readonly #restore: (mid: string, renew: boolean) => void
  #timer: Timer | undefined
  #lines: ReadonlyMap<string, Counters> = new Map()

  /** `read` returns the statistics of the connection; undefined without one. */
  constructor(
    clock: Clock,
    read: () => Promise<ReadonlyMap<string, unknown>> | undefined,
    restore: (mid: string, renew: boolean) => void,
  ) {
    this.#clock = clock
    this.#read = read
    this.#restore = restore
  }

  /** Idempotent. */
  start(): void {
    this.#timer ??= this.#clock.after(intervalMs, () => this.#tick())
  }

  /** Idempotent. */
  stop(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#lines = new Map()
  }

  #tick(): void {
    this.#timer = undefined
    this.start()
    const timer = this.#timer
    this.#read()?.then(
      (stats) => {
        // Stopped meanwhile.
        if (this.#timer === timer) this.#check(stats)
      },
      // A closed connection has no statistics.
      () => {},
    )
  }

  #check(stats: ReadonlyMap<string, unknown>): void {
    const lines = new Map<string, Counters>()
    for (const [mid, { packets, frames }] of countersOf(stats)) {
      const before = this.#lines.get(mid)
      const isStalled = before !== undefined && packets > before.packets && frames <= before.frames
      const stalled = isStalled ? before.stalled + 1 : 0
      if (stalled === keyFrameChecks) this.#restore(mid, false)
      if (stalled === renewalChecks) this.#restore(mid, true)
      lines.set(mid, { packets, frames, stalled: stalled % renewalChecks })
    }
    this.#lines = lines
  }
}

/** Returns the packets and frames of each line, over all of its streams. */
const countersOf = (
  stats: ReadonlyMap<string, unknown>,
): Map<string, { packets: number; frames: number }> => {
  const lines = new Map<string, { packets: number; frames: number }>()
  for (const each of stats.values()) {
    const { type, mid, packetsReceived, framesDecoded } = record(each)
    // The gateway measures the path with packets on a line of that name, which have no frames.
    if (type !== 'inbound-rtp' || typeof mid !== 'string' || mid === 'probator') continue
    const line = lines.get(mid) ?? { packets: 0, frames: 0 }
    line.packets += Number(packetsReceived ?? 0)
    line.frames += Number(framesDecoded ?? 0)
    lines.set(mid, line)
  }
  return lines
}
