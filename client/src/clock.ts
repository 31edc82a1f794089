/** Timer started by {@link Clock.after}. */
export interface Timer {
  /** Stops the timer; no effect after it has fired. */
  cancel(): void
}

/** The only source of time in the client; tests pass their own. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number
  /** Calls `run` once, `ms` milliseconds from now. */
  after(ms: number, run: () => void): Timer
}

// Browsers store a delay in 32 bits, and fire at once if it does not fit.
const maxDelayMs = 2_147_483_647

/** Clock of the browser. Delays are limited to 24.8 days. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after: (ms, run) => {
    const handle = setTimeout(run, Math.min(Math.max(0, ms), maxDelayMs))
    return { cancel: () => clearTimeout(handle) }
  },
}
