import type { TimerSet } from './timer-set.ts'

/** Maximum time for the preparation of the first words, in ms. */
const maxPreparationMs = 1_500

/** Steps of the begin of a conversation, each taken once. */
export interface OpeningSteps {
  /** The initial delay is over. Not called without a delay. */
  onDelayOver(): void
  /** The engine is ready, and the delay is over. */
  onBegin(): void
}

/**
 * Begin of a conversation. It needs an engine that is ready, and the end of the initial delay, which counts
 * from the answer of the call. Without a delay it may begin before the answer.
 */
export class Opening {
  /** Resolves when the first words are prepared, or waiting for them is of no use, after 1.5 s at most. */
  readonly prepared: Promise<void>
  /** Resolves when the call is answered, or the conversation is over. */
  readonly answered: Promise<void>
  readonly #delayMs: number
  readonly #timers: TimerSet
  readonly #steps: OpeningSteps
  readonly #preparation = Promise.withResolvers<void>()
  readonly #answer = Promise.withResolvers<void>()
  #isAnswered = false
  #isReady = false
  #isDue: boolean
  #hasBegun = false

  /** `delayMs`: initial delay. */
  constructor(delayMs: number, timers: TimerSet, steps: OpeningSteps) {
    this.#delayMs = delayMs
    this.#timers = timers
    this.#steps = steps
    this.prepared = this.#preparation.promise
    this.answered = this.#answer.promise
    this.#isDue = delayMs === 0
  }

  /** Whether the initial delay is over. */
  get isDue(): boolean {
    return this.#isDue
  }

  get hasBegun(): boolean {
    return this.#hasBegun
  }

  /** The call is not answered yet: bounds the time for the preparation. */
  waitForAnswer(): void {
    this.#timers.after(maxPreparationMs, () => this.setPrepared())
  }

  /** The call is answered. */
  setAnswered(): void {
    if (this.#isAnswered) return
    this.#isAnswered = true
    this.#answer.resolve()
    if (this.#isDue) return
    this.#timers.after(this.#delayMs, () => {
      this.#isDue = true
      this.#steps.onDelayOver()
      this.#begin()
    })
  }

  /** The engine is ready. */
  setReady(): void {
    this.#isReady = true
    this.#begin()
  }

  /** The first words are prepared, or the agent does not speak first. */
  setPrepared(): void {
    this.#preparation.resolve()
  }

  /** The conversation is over. */
  close(): void {
    this.#hasBegun = true
    this.#preparation.resolve()
    this.#answer.resolve()
  }

  #begin(): void {
    if (this.#hasBegun || !this.#isReady || !this.#isDue) return
    this.#hasBegun = true
    this.#steps.onBegin()
  }
}
