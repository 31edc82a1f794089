import type { Clock } from './clock.ts'

interface Window {
  readonly since: number
  count: number
}

/** How many attempts a key has within a window. */
export interface FixedWindowLimit {
  readonly attempts: number
  readonly windowMs: number
  /**
   * Maximum number of keys below the limit that are remembered; default 10,000. The oldest windows are
   * forgotten first.
   */
  readonly keys?: number
}

/**
 * Counts attempts per key in fixed windows; shared by every listener, so that a second port gives no second
 * chance. A key that has reached the limit is remembered to the end of its window, however many other keys
 * come.
 */
export class FixedWindowLimiter {
  #clock: Pick<Clock, 'now'>
  #limit: Required<FixedWindowLimit>
  /** Below the limit, in the order of their start. */
  #windows = new Map<string, Window>()
  /** At the limit, in the order in which they reached it. */
  #reached = new Map<string, Window>()

  constructor(clock: Pick<Clock, 'now'>, limit: FixedWindowLimit) {
    this.#clock = clock
    this.#limit = { keys: 10_000, ...limit }
  }

  /** Number of keys that are remembered now. */
  get size(): number {
    return this.#windows.size + this.#reached.size
  }

  /** Allows so many attempts from now on; what was counted stays counted. */
  change(attempts: number): void {
    this.#limit = { ...this.#limit, attempts }
  }

  /**
   * Counts an attempt. Returns 0 if it is allowed, else the milliseconds until the next one is. `attempts` of
   * this key; default those of all.
   */
  take(key: string, attempts = this.#limit.attempts): number {
    const now = this.#clock.now()
    const known = this.#windows.get(key) ?? this.#reached.get(key)
    const isOpen = known !== undefined && now - known.since < this.#limit.windowMs
    if (isOpen && known.count >= attempts) return known.since + this.#limit.windowMs - now
    const window = isOpen ? known : { since: now, count: 0 }
    window.count++
    if (!isOpen) this.#replace(key, window, now)
    if (window.count >= attempts) {
      this.#windows.delete(key)
      this.#reached.set(key, window)
    }
    return 0
  }

  /** Forgets a key, after a success. */
  forget(key: string): void {
    this.#windows.delete(key)
    this.#reached.delete(key)
  }

  #replace(key: string, window: Window, now: number): void {
    this.forget(key)
    const isOver = ({ since }: Window) => now - since >= this.#limit.windowMs
    for (const [other, old] of this.#reached) {
      if (!isOver(old)) break
      this.#reached.delete(other)
    }
    for (const [other, old] of this.#windows) {
      if (!isOver(old) && this.#windows.size < this.#limit.keys) break
      this.#windows.delete(other)
    }
    this.#windows.set(key, window)
  }
}
