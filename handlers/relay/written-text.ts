import type { AgentText } from '../verbs.ts'

/** Text that a server is writing, and that is spoken meanwhile. */
export class WrittenText implements AgentText {
  readonly #listeners = new Set<(piece: string | undefined) => void>()
  #text = ''
  #isEnded = false

  /** Text so far. */
  get text(): string {
    return this.#text
  }

  /** Adds a piece. */
  write(piece: string): void {
    if (this.#isEnded || piece === '') return
    this.#text += piece
    for (const listener of this.#listeners) listener(piece)
  }

  /** Ends the text. Idempotent. */
  end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    for (const listener of this.#listeners) listener(undefined)
  }

  read(listener: (piece: string | undefined) => void): () => void {
    this.#listeners.add(listener)
    if (this.#text !== '') listener(this.#text)
    if (this.#isEnded) listener(undefined)
    return () => this.#listeners.delete(listener)
  }
}
