import { performance } from 'node:perf_hooks'

/** Timer started by {@link MediaClock.after}. */
export interface MediaTimer {
  /** Cancels the timer; no effect if it has fired. */
  cancel(): void
}

/** Time of the media threads: a wall clock that never goes back, in ms with fractions. */
export interface MediaClock {
  /** Returns the milliseconds since the Unix epoch. */
  now(): number
  after(ms: number, run: () => void): MediaTimer
}

// Read once, and `performance` is imported rather than taken from the global: both are getters, too slow for
// every packet.
const { timeOrigin } = performance

/** System clock. Starts at the wall clock and does not jump when that is set. */
export const systemClock: MediaClock = {
  now: () => timeOrigin + performance.now(),
  after(ms, run) {
    const handle = setTimeout(run, ms)
    return { cancel: () => clearTimeout(handle) }
  },
}
