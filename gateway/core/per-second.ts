import type { Clock } from './clock.ts'

/** Counts what happens within a second, in fixed windows. */
export class PerSecond {
  readonly #clock: Pick<Clock, 'now'>
  #since = Number.NEGATIVE_INFINITY
  #count = 0

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  /** Counts one more; how many there were in this second. */
  count(): number {
    const now = this.#clock.now()
    if (now - this.#since >= 1000) {
      this.#since = now
      this.#count = 0
    }
    return ++this.#count
  }
}
