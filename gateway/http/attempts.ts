import type { Clock } from '../clock.ts'

interface Window {
  readonly since: number
  count: number
}

/** How many attempts a key has within a window. */
export interface AttemptLimit {
  readonly attempts: number
  readonly windowMs: number
  /** Keys that are remembered; default 10,000. When there are more, the oldest windows are forgotten. */
  readonly keys?: number
}

/** Counts attempts per key in fixed windows; shared by every listener, so that a second port gives nobody a second chance. */
export class Attempts {
  #clock: Pick<Clock, 'now'>
  #limit: Required<AttemptLimit>
  #windows = new Map<string, Window>()

  constructor(clock: Pick<Clock, 'now'>, limit: AttemptLimit) {
    this.#clock = clock
    this.#limit = { keys: 10_000, ...limit }
  }

  /** Keys that are remembered now. */
  get size(): number {
    return this.#windows.size
  }

  /** Counts an attempt. Returns 0 when it is allowed, else the milliseconds until the next one is. */
  take(key: string): number {
    const now = this.#clock.now()
    const window = this.#windows.get(key)
    if (window && now - window.since < this.#limit.windowMs) {
      if (window.count >= this.#limit.attempts) return window.since + this.#limit.windowMs - now
      window.count++
      return 0
    }
    this.#windows.delete(key)
    this.#makeRoom(now)
    this.#windows.set(key, { since: now, count: 1 })
    return 0
  }

  /** Forgets a key, after a success. */
  forget(key: string): void {
    this.#windows.delete(key)
  }

  /** Windows lie in the order of their start. */
  #makeRoom(now: number): void {
    for (const [key, window] of this.#windows) {
      if (now - window.since < this.#limit.windowMs && this.#windows.size < this.#limit.keys) return
      this.#windows.delete(key)
    }
  }
}
