import type { EngineListener } from '../../engine.ts'

/** Outcome of an answer. */
export type AnswerOutcome = Parameters<EngineListener['onAnswerEnd']>[1]

/**
 * Answers of an engine whose protocol has no ids for them: one at a time, each with one item. After
 * {@link discard}, audio and text are dropped until the protocol's next answer begins.
 */
export class Answers {
  readonly #listener: EngineListener
  #count = 0
  #current: { readonly id: string; hasContent: boolean; isItemOpen: boolean } | undefined
  #isDiscarding = false

  constructor(listener: EngineListener) {
    this.#listener = listener
  }

  /** Id of the answer in progress. */
  get current(): string | undefined {
    return this.#current?.id
  }

  /** Whether what comes belongs to a discarded answer. */
  get isDiscarding(): boolean {
    return this.#isDiscarding
  }

  /** Begins an answer, unless one is in progress. Returns its id. */
  begin(): string {
    if (this.#current) return this.#current.id
    this.#isDiscarding = false
    const id = `answer-${++this.#count}`
    this.#current = { id, hasContent: false, isItemOpen: true }
    this.#listener.onAnswer(id)
    return id
  }

  audio(samples: Int16Array): void {
    if (this.#isDiscarding || samples.length === 0) return
    const id = this.begin()
    this.#content()
    this.#listener.onAudio(id, itemOf(id), samples)
  }

  text(text: string): void {
    if (this.#isDiscarding || text === '') return
    const id = this.begin()
    this.#content()
    this.#listener.onText(id, itemOf(id), text)
  }

  /** Adds text that came after the end of the last answer, whose audio said it. */
  lateText(text: string): void {
    if (this.#isDiscarding || text === '' || this.#current || this.#count === 0) return
    const id = `answer-${this.#count}`
    this.#listener.onText(id, itemOf(id), text)
  }

  /** Everything of the item was delivered; the answer may go on with text. */
  endItem(): void {
    if (!this.#current?.isItemOpen) return
    this.#current.isItemOpen = false
    this.#listener.onItemEnd(this.#current.id, itemOf(this.#current.id))
  }

  /** Ends the answer in progress, if there is one. */
  end(how: AnswerOutcome): void {
    const id = this.#current?.id
    if (id === undefined) return
    if (how === 'completed' && this.#current?.hasContent) this.endItem()
    this.#current = undefined
    this.#listener.onAnswerEnd(id, how)
  }

  /** Cancels the answer in progress, and drops what comes of it until {@link accept}. */
  discard(): void {
    if (!this.#current) return
    this.#isDiscarding = true
    this.end('cancelled')
  }

  /** The discarded answer is over on the server, too. */
  accept(): void {
    this.#isDiscarding = false
  }

  #content(): void {
    if (!this.#current || this.#current.hasContent) return
    this.#current.hasContent = true
    this.#listener.onFirstToken(this.#current.id)
  }
}

const itemOf = (answer: string): string => `${answer}-audio`
