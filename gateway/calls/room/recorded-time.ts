import type { SteadyClock } from '../../core/clock.ts'

/** Time in a recording, which stands still in its pauses. */
export class RecordedTime {
  /** Time of the clock at the start. */
  readonly startedAt: number
  readonly #clock: Pick<SteadyClock, 'now'>
  #pausedMs = 0
  #pausedAt: number | undefined

  constructor(clock: Pick<SteadyClock, 'now'>) {
    this.#clock = clock
    this.startedAt = clock.now()
  }

  get isPaused(): boolean {
    return this.#pausedAt !== undefined
  }

  /** Time since the start without pauses, in seconds, with ms. */
  get seconds(): number {
    return Math.round((this.#pausedAt ?? this.#clock.now()) - this.startedAt - this.#pausedMs) / 1000
  }

  pause(): void {
    this.#pausedAt ??= this.#clock.now()
  }

  resume(): void {
    if (this.#pausedAt === undefined) return
    this.#pausedMs += this.#clock.now() - this.#pausedAt
    this.#pausedAt = undefined
  }
}
