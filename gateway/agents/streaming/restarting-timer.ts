import type { Clock, Timer } from '../../core/clock.ts'

/** Wait that begins anew whenever something happens, such as a message or a piece of audio. */
export class RestartingTimer {
  readonly #clock: Clock
  #timer: Timer | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Ends the wait in progress, and begins another one: `run` is called after `ms` milliseconds. */
  restart(ms: number, run: () => void): void {
    this.#timer?.cancel()
    this.#timer = this.#clock.after(ms, run)
  }

  /** Ends the wait in progress. Idempotent. */
  cancel(): void {
    this.#timer?.cancel()
  }
}
