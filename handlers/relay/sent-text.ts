import type { WrittenText } from './written-text.ts'

/**
 * Text of a server, with the place that the caller has reached. The voice speaks it without marks of Markdown
 * and with other blanks; reports have it as it was sent.
 */
export class SentText {
  readonly written: WrittenText
  /** Begin of the answer that speaks the text, or the rest of it. */
  #from = 0
  #reached = 0

  constructor(written: WrittenText) {
    this.written = written
  }

  /** A further answer speaks the rest. */
  begin(): void {
    this.#from = this.#reached
  }

  /** Moves on by a piece that was heard. Returns it as it was sent. */
  pass(piece: string): string {
    const { text } = this.written
    const begin = this.#reached
    this.#reached = endOf(text, begin, piece)
    return text.slice(begin, this.#reached)
  }

  /** Moves on to the end of what was heard of the answer. Returns the part that was not passed before. */
  passTo(heard: string): string {
    const { text } = this.written
    const begin = this.#reached
    this.#reached = Math.max(begin, endOf(text, this.#from, heard))
    return text.slice(begin, this.#reached)
  }
}

const isBlank = (character: string): boolean => character.trim() === ''

/** Word that ends, with the marks that belong to it. */
const endOfWord = /(?<=[\p{L}\p{N}])[^\p{L}\p{N}\s]*/uy

/** Returns the offset in a sent text after what was heard of it, from an offset on. */
const endOf = (text: string, from: number, heard: string): number => {
  let end = from
  for (const character of heard) {
    const at = isBlank(character) ? -1 : text.indexOf(character, end)
    if (at >= 0) end = at + character.length
  }
  if (end === from) return from
  endOfWord.lastIndex = end
  return end + (endOfWord.exec(text)?.[0].length ?? 0)
}
