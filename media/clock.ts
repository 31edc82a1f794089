import { performance } from 'node:perf_hooks'

/** Timer started by {@link Timers.after}. */
export interface MediaTimer {
  /** Cancels the timer; no effect if it has fired. */
  cancel(): void
}

/** Source of timers. */
export interface Timers {
  /** Calls `run` once after `ms` milliseconds, unless cancelled. */
  after(ms: number, run: () => void): MediaTimer
}

/** Time of the media threads: a wall clock that never goes back, in ms with fractions. */
export interface MediaClock extends Timers {
  /** Returns the milliseconds since the Unix epoch. */
  now(): number
}

// `timeOrigin` is read once, and `performance` is imported rather than taken from the global object. Both are
// getters, too slow for every packet.
const { timeOrigin } = performance

/** System clock. Starts at the time of the wall clock, and does not jump when the wall clock is set. */
export const systemClock: MediaClock = {
  now: () => timeOrigin + performance.now(),
  after(ms, run) {
    const handle = setTimeout(run, ms)
    return { cancel: () => clearTimeout(handle) }
  },
}
