import type { SteadyClock, Timer } from '../../core/clock.ts'

/** Time (uptime in ms) at which something is due, unless an input changes it before. */
export interface Deadline {
  readonly at: number
  readonly run: () => void
}

/** Timer of the earliest deadline. Deadlines are computed anew after each input, so none is left over. */
export class Schedule {
  readonly #clock: SteadyClock
  #timer: Timer | undefined

  constructor(clock: SteadyClock) {
    this.#clock = clock
  }

  /** Replaces all deadlines. */
  set(deadlines: readonly Deadline[]): void {
    this.#timer?.cancel()
    this.#timer = undefined
    const first = deadlines.reduce<Deadline | undefined>(
      (earliest, deadline) => (earliest && earliest.at <= deadline.at ? earliest : deadline),
      undefined,
    )
    if (!first) return
    this.#timer = this.#clock.after(Math.max(0, first.at - this.#clock.uptime()), first.run)
  }
}
