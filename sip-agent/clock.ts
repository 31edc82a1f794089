/** A timer that was started by {@link Clock.after}. */
export interface Timer {
  /** Stops the timer; harmless when it has fired or was cancelled already. */
  cancel(): void
}

/** The only source of time in the gateway. Tests pass a {@link FakeClock}, so no test sleeps. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number
  /** Calls `run` once, `ms` milliseconds from now. */
  after(ms: number, run: () => void): Timer
}

/** A clock that can also tell how long ago something was, whatever happens to the machine's time. */
export interface SteadyClock extends Clock {
  /** Milliseconds since a fixed moment. Unlike {@link Clock.now} it never jumps. */
  uptime(): number
}

/** Longest wait of `setTimeout`: a longer one would be over at once. Session timers of a month are longer. */
const maxTimeoutMs = 2 ** 31 - 1

/** The machine's clock. It counts its running timers, so that a leaked one shows in the metrics. */
export class SystemClock implements SteadyClock {
  #running = 0

  /** Timers that were started and neither fired nor were cancelled. */
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

/** A clock that stands still until a test moves it. */
export class FakeClock implements SteadyClock {
  #now: number
  #due: { at: number; order: number; run: () => void }[] = []
  #order = 0

  constructor(now = 1_700_000_000_000) {
    this.#now = now
  }

  /** Timers that are still to fire. */
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

  /** Moves time on by `ms`, firing every timer that falls due, in order of its due time. */
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
