/** A timer that was started by {@link Clock.after}. */
export interface Timer {
  /** Stops the timer; harmless when it has fired already. */
  cancel(): void
}

/** The only source of time in the client; tests pass one of their own. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number
  /** Calls `run` once, `ms` milliseconds from now. */
  after(ms: number, run: () => void): Timer
}

// Browsers keep a delay in 32 bits and fire at once when it does not fit.
const LONGEST_DELAY_MS = 2_147_483_647

/** The browser's clock. Delays beyond 24.8 days are cut to that. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after: (ms, run) => {
    const handle = setTimeout(run, Math.min(Math.max(0, ms), LONGEST_DELAY_MS))
    return { cancel: () => clearTimeout(handle) }
  },
}
