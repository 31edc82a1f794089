import type { Clock, Timer } from '../../core/clock.ts'
import { EngineError } from './engine-error.ts'

/** Time limits of a request in progress, of which one runs at a time. Aborts the request when it is over. */
export class Deadline {
  readonly #clock: Clock
  readonly #controller = new AbortController()
  #timer: Timer | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Signal for the request. Its reason is an {@link EngineError}. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Replaces the time limit. `fault` names the missing event in the error. */
  set(ms: number, fault: string): void {
    this.#timer?.cancel()
    if (this.signal.aborted) return
    this.#timer = this.#clock.after(ms, () =>
      this.#controller.abort(new EngineError('timeout', `${fault} within ${ms} ms`)),
    )
  }

  /** Removes the time limit. */
  clear(): void {
    this.#timer?.cancel()
  }

  /** Aborts the request. */
  abort(): void {
    this.#timer?.cancel()
    this.#controller.abort(new EngineError('connection', 'the request was cancelled'))
  }
}
