/** The timers that sounds use. */
export interface Timers {
  /** Calls `run` once, `ms` milliseconds from now, unless it is cancelled. */
  after(ms: number, run: () => void): { cancel(): void }
}

/** The machine's timers. */
export const systemTimers: Timers = {
  after: (ms, run) => {
    const handle = setTimeout(run, ms)
    return { cancel: () => clearTimeout(handle) }
  },
}
