import { performance } from 'node:perf_hooks'

/** A timer that was started by {@link MediaClock.after}. */
export interface MediaTimer {
  /** Harmless when it has fired. */
  cancel(): void
}

/** The time of the media threads: wall clock that never goes back, in ms with fractions. */
export interface MediaClock {
  /** Milliseconds since the Unix epoch. */
  now(): number
  after(ms: number, run: () => void): MediaTimer
}

// Read once, as is the import instead of the global of that name: both are getters, too dear for every packet.
const { timeOrigin } = performance

/** The machine's clock. Unlike the wall clock, it does not jump when that is set. */
export const systemClock: MediaClock = {
  now: () => timeOrigin + performance.now(),
  after(ms, run) {
    const handle = setTimeout(run, ms)
    return { cancel: () => clearTimeout(handle) }
  },
}
