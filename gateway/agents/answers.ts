import type { AgentFunctionCall, AgentStamps } from '../../handlers/verbs.ts'
import type { EngineLink } from './engine.ts'

/** Answer of the agent that is not over yet. */
export interface OpenAnswer {
  /** Id that is unique in the conversation. */
  readonly id: string
  /** Id of the engine, unique in its session. */
  readonly engineId: string
  /** Spoken word for word as the document demanded, not by the model. */
  readonly isExact: boolean
  readonly isInterruptible: boolean
  readonly calls: AgentFunctionCall[]
  stamps: AgentStamps
  /** Whether the engine has delivered everything. */
  isDelivered: boolean
  /** Whether the caller interrupted it: nothing of it counts any more. */
  isCut: boolean
}

/** Text to be spoken word for word. */
export interface ExactText {
  readonly text: string
  readonly isInterruptible: boolean
  /** Called when the text was heard, interrupted, or could not be spoken. */
  readonly done: () => void
}

/**
 * Answers in progress, in order. Texts to be spoken word for word wait for the answer before them. The
 * engine gets them one at a time: its next answer then is theirs.
 */
export class Answers {
  readonly #open = new Map<string, OpenAnswer>()
  readonly #waiting: ExactText[] = []
  /** Text that the engine has, and whose answer has not begun. */
  #given: ExactText | undefined
  readonly #done = new Map<string, () => void>()
  /** Session that was asked for an answer that has not begun. */
  awaitedFrom: EngineLink | undefined

  /** Answers in progress, the oldest first. */
  get all(): readonly OpenAnswer[] {
    return [...this.#open.values()]
  }

  get isEmpty(): boolean {
    return this.#open.size === 0 && this.#waiting.length === 0 && !this.#given
  }

  get(id: string): OpenAnswer | undefined {
    return this.#open.get(id)
  }

  /** Adds a text to speak. */
  say(text: ExactText): void {
    this.#waiting.push(text)
  }

  /** Returns the next text for the engine, if no answer is in progress. */
  nextText(): string | undefined {
    if (this.#open.size > 0 || this.#given) return undefined
    this.#given = this.#waiting.shift()
    return this.#given?.text
  }

  /** Session that has the given text. */
  givenTo: EngineLink | undefined

  /** Text that was given to the engine, and that a new session has to speak. */
  get givenText(): string | undefined {
    return this.#given?.text
  }

  /** Begins an answer. */
  begin(id: string, engineId = id): OpenAnswer {
    const given = this.#given
    this.#given = undefined
    this.givenTo = undefined
    this.awaitedFrom = undefined
    if (given) this.#done.set(id, given.done)
    const answer: OpenAnswer = {
      id,
      engineId,
      isExact: given !== undefined,
      isInterruptible: given?.isInterruptible ?? true,
      calls: [],
      stamps: {},
      isDelivered: false,
      isCut: false,
    }
    this.#open.set(id, answer)
    return answer
  }

  /** Ends an answer. */
  end(id: string): void {
    this.#open.delete(id)
    this.#done.get(id)?.()
    this.#done.delete(id)
  }

  /** Drops the texts and the answer that wait: the caller interrupted, or the conversation ends. */
  dropWaiting(): void {
    this.awaitedFrom = undefined
    const dropped = [...this.#waiting.splice(0), ...(this.#given ? [this.#given] : [])]
    this.#given = undefined
    for (const { done } of dropped) done()
  }
}
