import type { SteadyClock } from '../../core/clock.ts'

/** Time in a recording, which stands still in its pauses. */
export class RecordedTime {
  readonly #clock: Pick<SteadyClock, 'now'>
  /** Time of the clock at the start, as if there had been no pause. */
  #startedAt: number
  #pausedAt: number | undefined

  constructor(clock: Pick<SteadyClock, 'now'>) {
    this.#clock = clock
    this.#startedAt = clock.now()
  }

  get isPaused(): boolean {
    return this.#pausedAt !== undefined
  }

  /** Time since the start without pauses, in seconds, with ms. */
  get seconds(): number {
    return Math.round((this.#pausedAt ?? this.#clock.now()) - this.#startedAt) / 1000
  }

  pause(): void {
    this.#pausedAt ??= this.#clock.now()
  }

  resume(): void {
    if (this.#pausedAt === undefined) return
    this.#startedAt += this.#clock.now() - this.#pausedAt
    this.#pausedAt = undefined
  }
}
