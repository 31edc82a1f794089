/** Timer started by {@link Clock.after}. */
export interface Timer {
  /** Stops the timer. Has no effect if it has fired or was cancelled. */
  cancel(): void
}

/** The only source of time. Tests pass a {@link FakeClock}, so no test sleeps. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number
  /** Calls `run` once, `ms` milliseconds from now. */
  after(ms: number, run: () => void): Timer
}

/** Clock that also measures durations, independent of changes to the machine's time. */
export interface SteadyClock extends Clock {
  /** Milliseconds since a fixed moment. Never jumps, unlike {@link Clock.now}. */
  uptime(): number
}

/** Maximum delay of `setTimeout` in ms; it fires a longer one at once. Session timers may last a month. */
const maxTimeoutMs = 2 ** 31 - 1

/** The machine's clock. Counts its running timers, so that a leaked one shows in the metrics. */
export class SystemClock implements SteadyClock {
  #running = 0

  /** Number of timers that have neither fired nor been cancelled. */
  get running(): number {
    return this.#running
  }

  now(): number {
    return Date.now()
  }

  uptime(): number {
    return performance.now()
  }

  after(ms: number, run: () => void): Timer {
    this.#running++
    let open = true
    const close = () => {
      if (!open) return false
      open = false
      this.#running--
      return true
    }
    let handle: NodeJS.Timeout | undefined
    const wait = (left: number) => {
      handle = setTimeout(
        () => {
          if (left > maxTimeoutMs) wait(left - maxTimeoutMs)
          else if (close()) run()
        },
        Math.min(left, maxTimeoutMs),
      )
    }
    wait(ms)
    return {
      cancel: () => {
        if (close()) clearTimeout(handle)
      },
    }
  }
}

/** Clock that stands still until a test advances it. */
export class FakeClock implements SteadyClock {
  #now: number
  #due: { at: number; order: number; run: () => void }[] = []
  #order = 0

  constructor(now = 1_700_000_000_000) {
    this.#now = now
  }

  /** Number of timers that have not fired. */
  get running(): number {
    return this.#due.length
  }

  now(): number {
    return this.#now
  }

  uptime(): number {
    return this.#now
  }

  after(ms: number, run: () => void): Timer {
    const entry = { at: this.#now + Math.max(0, ms), order: this.#order++, run }
    this.#due.push(entry)
    return {
      cancel: () => {
        this.#due = this.#due.filter((e) => e !== entry)
      },
    }
  }

  /** Advances time by `ms` and fires the timers that fall due, in order of their due time. */
  advance(ms: number): void {
    const end = this.#now + ms
    for (;;) {
      const next = this.#due.filter((e) => e.at <= end).sort((a, b) => a.at - b.at || a.order - b.order)[0]
      if (!next) break
      this.#due = this.#due.filter((e) => e !== next)
      this.#now = next.at
      next.run()
    }
    this.#now = end
  }
}
