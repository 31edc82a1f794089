/** Rate limiters with fixed windows. A window of a key starts at its first event. */
import type { Clock } from './clock.ts'

interface Window {
  readonly since: number
  count: number
}

/** Size of a counter's windows and bound of its memory. */
export interface FixedWindowOptions {
  readonly windowMs: number
  /**
   * Maximum number of keys that are remembered; default 10,000. The least recently used key is forgotten
   * first.
   */
  readonly maxKeys?: number
}

/** Result of {@link FixedWindowCounter.count}. */
export interface WindowCount {
  /** Events in the current window, this one included. */
  readonly count: number
  /** Milliseconds until the window ends. */
  readonly remainingMs: number
}

/** Counts events per key in fixed windows. The counts have no maximum. */
export class FixedWindowCounter {
  readonly #clock: Pick<Clock, 'now'>
  readonly #windowMs: number
  readonly #maxKeys: number
  /** In the order of their last use. */
  readonly #windows = new Map<string, Window>()

  constructor(clock: Pick<Clock, 'now'>, { windowMs, maxKeys = 10_000 }: FixedWindowOptions) {
    this.#clock = clock
    this.#windowMs = windowMs
    this.#maxKeys = maxKeys
  }

  /** Number of keys that are remembered. */
  get size(): number {
    return this.#windows.size
  }

  /** Counts an event of a key. A counter with a single rate needs no key. */
  count(key = ''): WindowCount {
    const now = this.#clock.now()
    const known = this.#windows.get(key)
    const window = known && now - known.since < this.#windowMs ? known : { since: now, count: 0 }
    window.count++
    this.#windows.delete(key)
    this.#windows.set(key, window)
    for (const oldest of this.#windows.keys()) {
      if (this.#windows.size <= this.#maxKeys) break
      this.#windows.delete(oldest)
    }
    return { count: window.count, remainingMs: window.since + this.#windowMs - now }
  }
}

/** Maximum number of attempts of a key within a window. */
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
 * Limits attempts per key in fixed windows. All listeners share one limiter, so a second port allows no
 * further attempts. A key at its limit is remembered to the end of its window, even if many other keys
 * arrive.
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

  /** Number of keys that are remembered. */
  get size(): number {
    return this.#windows.size + this.#reached.size
  }

  /** Changes the number of attempts; present counts are kept. */
  change(attempts: number): void {
    this.#limit = { ...this.#limit, attempts }
  }

  /**
   * Counts an attempt. Returns 0 if it is allowed; otherwise the milliseconds until the next one is.
   * `attempts` overrides the limit for this key.
   */
  take(key: string, attempts = this.#limit.attempts): number {
    const waitMs = this.waitOf(key, attempts)
    if (waitMs > 0) return waitMs
    const now = this.#clock.now()
    const open = this.#open(key, now)
    const window = open ?? { since: now, count: 0 }
    window.count++
    if (!open) this.#replace(key, window, now)
    if (window.count >= attempts) {
      this.#windows.delete(key)
      this.#reached.set(key, window)
    }
    return 0
  }

  /**
   * Returns the milliseconds until the next attempt of a key is allowed; 0 if one is allowed now. Counts
   * none.
   */
  waitOf(key: string, attempts = this.#limit.attempts): number {
    const now = this.#clock.now()
    const open = this.#open(key, now)
    return open && open.count >= attempts ? open.since + this.#limit.windowMs - now : 0
  }

  /** Forgets a key, for example after a success. */
  forget(key: string): void {
    this.#windows.delete(key)
    this.#reached.delete(key)
  }

  /** Returns the window of a key, unless it is over. */
  #open(key: string, now: number): Window | undefined {
    const known = this.#windows.get(key) ?? this.#reached.get(key)
    return known && now - known.since < this.#limit.windowMs ? known : undefined
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
