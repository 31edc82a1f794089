import type { Clock, Timer } from '../core/clock.ts'

/** Timers of one owner, which end with it. */
export class TimerSet {
  readonly #clock: Clock
  readonly #timers = new Set<Timer>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Calls `run` once, `ms` milliseconds from now. */
  after(ms: number, run: () => void): Timer {
    const timer = this.#clock.after(ms, () => {
      this.#timers.delete(timer)
      run()
    })
    this.#timers.add(timer)
    return timer
  }

  cancel(timer: Timer): void {
    this.#timers.delete(timer)
    timer.cancel()
  }

  /** Cancels all timers. */
  close(): void {
    for (const timer of this.#timers) this.cancel(timer)
  }
}
