import type { AgentFunctionCall, AgentLanguage, AgentStamps, AgentText } from '../../handlers/verbs.ts'
import type { EngineLink, EngineSound } from './engine.ts'
import type { TurnTimes } from './turn-stamps.ts'

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
  /** Times of the caller's turn that it answers; empty if it is no reply. */
  readonly turn: TurnTimes
  stamps: AgentStamps
  /** Whether the engine has delivered everything. */
  isDelivered: boolean
  /** Whether the caller interrupted it: nothing of it counts any more. */
  isCut: boolean
}

/** Text to be spoken word for word, or a sound. */
export interface ExactText {
  readonly what: string | AgentText | EngineSound
  /** Language of this text only. */
  readonly language?: AgentLanguage
  readonly isInterruptible: boolean
  /** Called when the text was heard, interrupted, or could not be spoken. */
  readonly done: () => void
}

/**
 * Answers in progress, in order. Texts to be spoken word for word wait for the answer before them. The
 * engine gets them one at a time. Engines answer in the order in which they are asked, unless they report
 * which answer speaks the text.
 */
export class Answers {
  readonly #open = new Map<string, OpenAnswer>()
  readonly #waiting: ExactText[] = []
  /** Text that the engine has, and whose answer has not begun. */
  #given: ExactText | undefined
  /** Texts of the answers that speak them. */
  readonly #texts = new Map<string, ExactText>()
  /** Session that was asked for an answer that has not begun. */
  awaitedFrom: EngineLink | undefined
  /** Session that has the given text. */
  #givenTo: EngineLink | undefined
  /** Whether the session has the text for longer than it owes another answer. */
  #isTextFirst = false

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

  /** Takes the next text for the engine, if no answer is in progress. Returns whether there is one. */
  takeText(): boolean {
    if (this.#open.size > 0 || this.#given) return false
    this.#given = this.#waiting.shift()
    return this.#given !== undefined
  }

  /** Whether a session has a text whose answer has not begun. */
  get isGiven(): boolean {
    return this.#givenTo !== undefined
  }

  /** Returns the text for a session, once; undefined without a text, or if the session has it. */
  give(link: EngineLink): ExactText | undefined {
    if (!this.#given || this.#givenTo === link) return undefined
    this.#givenTo = link
    this.#isTextFirst = this.awaitedFrom !== link
    return this.#given
  }

  /** The session did not speak the text: it is dropped. */
  giveUpText(): void {
    this.#takeGiven()?.done()
  }

  /** Whether the answer that begins now speaks the given text. `isText`: as the engine reports it. */
  isOfText(isText: boolean | undefined): boolean {
    if (!this.#given || !this.#givenTo) return false
    return isText ?? (this.awaitedFrom === undefined || this.#isTextFirst)
  }

  /** Begins an answer. `turn`: the turn that it answers, unless it speaks the given text. */
  begin(id: string, engineId: string, isText: boolean, turn: TurnTimes): OpenAnswer {
    const given = isText ? this.#takeGiven() : undefined
    if (given) this.#texts.set(id, given)
    else {
      this.awaitedFrom = undefined
      this.#isTextFirst = true
    }
    const answer: OpenAnswer = {
      id,
      engineId,
      isExact: given !== undefined,
      isInterruptible: given?.isInterruptible ?? true,
      calls: [],
      turn,
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
    const text = this.#texts.get(id)
    this.#texts.delete(id)
    text?.done()
  }

  /** Text that an answer speaks; undefined for an answer of the model, and for sounds. */
  textOf(id: string): string | undefined {
    const what = this.#texts.get(id)?.what
    return typeof what === 'string' ? what : undefined
  }

  /** Lets the next answer speak the rest of the text of this one. */
  sayRest(id: string, rest: string): void {
    const text = this.#texts.get(id)
    this.#texts.delete(id)
    if (text) this.#waiting.unshift({ ...text, what: rest })
  }

  /** Drops the texts and the answer that wait: the caller interrupted, or the conversation ends. */
  dropWaiting(): void {
    this.awaitedFrom = undefined
    const dropped = this.#waiting.splice(0)
    this.giveUpText()
    for (const { done } of dropped) done()
  }

  #takeGiven(): ExactText | undefined {
    const given = this.#given
    this.#given = undefined
    this.#givenTo = undefined
    return given
  }
}
