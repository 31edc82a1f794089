/** Wait of a frame for a picture that is about to come, so that its jitter does not miss the frame, in ms. */
const marginMs = 4
/** Minimum mean wait of the pictures that another phase must save, in ms. */
const minGainMs = 3
/** Number of frames over which the waits are compared. */
const windowFrames = 16

/**
 * Times of the frames of one picture: at most one in an interval. Pictures of its sources come at moments of
 * their own, and wait for the next frame. Sources of equal rates keep their distances, so frames move to the
 * moment after the picture from which the waits are shortest.
 */
export class FramePace {
  #lastAt: number
  /** Time from the usual moment of the next frame to its best one, in ms. */
  #shiftMs = 0
  /** Arrivals of the latest pictures that no frame has yet, by source. */
  readonly #arrivals = new Map<string, number>()
  /** Waits that frames after the pictures of a source would have saved in this window, in ms. */
  readonly #savings = new Map<string, number>()
  #frames = 0

  /** `lastAt`: time of the frame before the first one. */
  constructor(lastAt: number) {
    this.#lastAt = lastAt
  }

  /** Time for which the last frame was due. */
  get lastAt(): number {
    return this.#lastAt
  }

  /** Returns the earliest time of the next frame. */
  soonest(intervalMs: number): number {
    return this.#lastAt + intervalMs + this.#shiftMs
  }

  /** Reports a new picture of a source. */
  arrived(id: string, now: number): void {
    this.#arrivals.set(id, now)
  }

  /** Reports a frame with all pictures so far, which was due at `dueAt`. */
  drawn(now: number, dueAt: number, intervalMs: number): void {
    // A late timer keeps the pace, but frames that were missed are left out.
    this.#lastAt = now - dueAt < intervalMs ? Math.min(dueAt, now) : now
    this.#shiftMs = 0
    this.#judge(now, intervalMs)
    this.#arrivals.clear()
  }

  /** Compares the waits until this frame with those until a frame after each of the pictures. */
  #judge(now: number, intervalMs: number): void {
    const arrivals = [...this.#arrivals]
    const meanOf = (waitOf: (arrivedAt: number) => number) =>
      arrivals.reduce((sum, [, at]) => sum + waitOf(at), 0) / arrivals.length
    const present = meanOf((at) => now - at)
    for (const [id, frameAt] of arrivals) {
      const saved = present - meanOf((at) => modulo(frameAt - at, intervalMs)) - marginMs
      this.#savings.set(id, (this.#savings.get(id) ?? 0) + saved)
    }
    if (++this.#frames < windowFrames) return
    const [id, saved] = [...this.#savings].reduce((best, each) => (each[1] > best[1] ? each : best), none)
    const at = this.#arrivals.get(id)
    if (at !== undefined && saved >= minGainMs * windowFrames) this.#move(at + marginMs, intervalMs)
    this.#savings.clear()
    this.#frames = 0
  }

  /** Moves the frames to the phase of a time, with one interval of half to one and a half of its length. */
  #move(at: number, intervalMs: number): void {
    const ms = modulo(at - this.#lastAt, intervalMs)
    this.#shiftMs = ms < intervalMs / 2 ? ms : ms - intervalMs
  }
}

const none: readonly [id: string, saved: number] = ['', 0]

const modulo = (value: number, by: number): number => ((value % by) + by) % by
