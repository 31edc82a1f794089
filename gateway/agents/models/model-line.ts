import type { Clock, Timer } from '../../core/clock.ts'
import type { EngineError } from '../streaming/engine-error.ts'
import type { Model, ModelAnswer, ModelListener, ModelRequest } from './model.ts'

/** Longest wait that a server may demand before the second request, in ms. */
const maxRetryAfterMs = 1500

/**
 * Models of which one is asked after the other. An answer that fails before its first text is requested
 * again: once from the same model, if that can help, then from the next ones. Later failures are reported.
 */
export class ModelLine implements Model {
  readonly name: string
  readonly maySayNothing: boolean
  readonly #models: readonly Model[]
  readonly #clock: Clock

  /** `models`: at least one, in order of preference. */
  constructor(models: readonly Model[], clock: Clock) {
    if (models.length === 0) throw new Error('models: at least one expected')
    this.name = models[0]!.name
    this.maySayNothing = models[0]!.maySayNothing ?? false
    this.#models = models
    this.#clock = clock
  }

  answer(request: ModelRequest, listener: ModelListener): ModelAnswer {
    const answer = new LineAnswer({ models: this.#models, clock: this.#clock, request, listener })
    answer.begin()
    return answer
  }

  async close(): Promise<void> {
    await Promise.all(this.#models.map((model) => model.close()))
  }
}

/** Collaborators and values of a {@link LineAnswer}. */
interface LineAnswerDeps {
  readonly models: readonly Model[]
  readonly clock: Clock
  readonly request: ModelRequest
  readonly listener: ModelListener
}

class LineAnswer implements ModelAnswer {
  readonly #deps: LineAnswerDeps
  #at = 0
  #isSecondTry = false
  #hasText = false
  #answer: ModelAnswer | undefined
  #timer: Timer | undefined

  constructor(deps: LineAnswerDeps) {
    this.#deps = deps
  }

  begin(): void {
    const { models, request, listener } = this.#deps
    this.#answer = models[this.#at]!.answer(request, {
      onText: (piece) => {
        this.#hasText = true
        listener.onText(piece)
      },
      onUsage: (usage) => listener.onUsage(usage),
      onEnd: (how, calls) => listener.onEnd(how, calls),
      onFailure: (error) => this.#failed(error),
    })
  }

  cancel(): void {
    this.#timer?.cancel()
    this.#answer?.cancel()
  }

  #failed(error: EngineError): void {
    const { models, clock, listener } = this.#deps
    const waitMs = error.retryAfterMs ?? 0
    if (!this.#hasText && !this.#isSecondTry && isPassing(error)) {
      this.#isSecondTry = true
      this.#timer = clock.after(waitMs, () => this.begin())
    } else if (!this.#hasText && this.#at + 1 < models.length) {
      this.#at++
      this.#isSecondTry = false
      this.begin()
    } else listener.onFailure(error)
  }
}

/** Whether the same request may succeed a moment later. A time-out has used up the caller's patience. */
const isPassing = ({ kind, retryAfterMs = 0 }: EngineError): boolean =>
  retryAfterMs <= maxRetryAfterMs &&
  (kind === 'connection' ||
    kind === 'server' ||
    kind === 'protocol' ||
    (kind === 'limited' && retryAfterMs > 0))
