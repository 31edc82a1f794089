import type { SteadyClock } from '../../core/clock.ts'

/** Time in a recording, which stands still in its pauses. */
export class RecordedTime {
  /** Time of the clock at the start, in ms since the Unix epoch. */
  readonly startedAt: number
  readonly #clock: Pick<SteadyClock, 'uptime'>
  /** Time of the clock that never jumps, as files of members have it. */
  readonly #from: number
  #pausedMs = 0
  #pausedAt: number | undefined

  constructor(clock: Pick<SteadyClock, 'now' | 'uptime'>) {
    this.#clock = clock
    this.startedAt = clock.now()
    this.#from = clock.uptime()
  }

  get isPaused(): boolean {
    return this.#pausedAt !== undefined
  }

  /** Time since the start without pauses, in seconds, with ms. */
  get seconds(): number {
    return Math.round((this.#pausedAt ?? this.#clock.uptime()) - this.#from - this.#pausedMs) / 1000
  }

  pause(): void {
    this.#pausedAt ??= this.#clock.uptime()
  }

  resume(): void {
    if (this.#pausedAt === undefined) return
    this.#pausedMs += this.#clock.uptime() - this.#pausedAt
    this.#pausedAt = undefined
  }
}
