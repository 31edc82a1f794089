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

/** The machine's clock. Unlike the wall clock, it does not jump when that is set. */
export const systemClock: MediaClock = {
  now: () => performance.timeOrigin + performance.now(),
  after(ms, run) {
    const handle = setTimeout(run, ms)
    return { cancel: () => clearTimeout(handle) }
  },
}
