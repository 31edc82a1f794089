import type { EngineCall, EngineLink } from './engine.ts'
import type { EngineSeat } from './engine-seat.ts'

/** Commands to the engine in order: an interruption needs the position heard before the next turn follows. */
export class EngineLine {
  readonly #seat: EngineSeat
  readonly #onError: (error: unknown) => void
  /** Sessions that called functions. */
  readonly #askers = new WeakMap<EngineCall, EngineLink>()
  #work: Promise<void> = Promise.resolve()
  #isOver = false

  /** `onError`: receives what a command throws. */
  constructor(seat: EngineSeat, onError: (error: unknown) => void) {
    this.#seat = seat
    this.#onError = onError
  }

  /** Does something with the session that is in use then, after what was begun before. */
  do(work: (link: EngineLink) => void): void {
    this.doAfter(undefined, work)
  }

  /** Waits for a value, and does something with it; later commands wait, too. */
  doAfter<T>(value: T | Promise<T>, work: (link: EngineLink, value: T) => void): void {
    this.#work = this.#work
      .then(() => value)
      .then((known) => {
        if (!this.#isOver) work(this.#seat.link, known)
      })
      .catch(this.#onError)
  }

  /** The present session called a function. */
  called(call: EngineCall): void {
    this.#askers.set(call, this.#seat.link)
  }

  /** Gives the result of a function to the session that called it; to another one, as a message. */
  result(call: EngineCall, text: string, respond: boolean): void {
    const { link } = this.#seat
    if (this.#askers.get(call) === link) link.result(call, text, respond)
    else link.message({ role: 'system', content: `Result of ${call.name}: ${text}` }, respond)
  }

  /** No command follows, not even one that waits. */
  close(): void {
    this.#isOver = true
  }
}
