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

/** Longest text of a link, and longest address, in characters; the same as where they are spoken. */
const maxLinkText = 300
const maxAddress = 2000

/** Place at which a word ends, or before the address of a link. */
const endOfWord = /(?<=[\p{L}\p{N}])|(?=\]\()/uy
/** Marks that belong to the word before them. */
const marks = /[^\p{L}\p{N}\s]*/uy

/** Returns the offset in a sent text after what was heard of it, from an offset on. */
const endOf = (text: string, from: number, heard: string): number => {
  let end = from
  for (const character of heard) {
    const at = isBlank(character) ? -1 : placeOf(text, character, end)
    if (at >= 0) end = at + character.length
  }
  if (end === from) return from
  return Math.max(from, beforeAddress(text, afterMarks(text, end)))
}

/** Returns the offset of a character from an offset on, outside the addresses of links: none is spoken. */
const placeOf = (text: string, character: string, from: number): number => {
  let at = text.indexOf(character, from)
  for (let start = from; at >= 0; ) {
    const end = linkIn(text, start, at + 1)?.end
    if (end === undefined) break
    start = end
    if (at < end) at = text.indexOf(character, end)
  }
  return at
}

/** Returns the place of the first address of a link that begins between two offsets, if there is one. */
const linkIn = (
  text: string,
  from: number,
  to: number,
): { readonly begin: number; readonly end: number } | undefined => {
  const part = text.slice(from, to)
  for (let at = part.indexOf(']('); at >= 0; at = part.indexOf('](', at + 1)) {
    const close = from + at
    const before = text.slice(Math.max(0, close - maxLinkText), close)
    const label = before.slice(before.lastIndexOf('[') + 1)
    const length = text.slice(close, close + maxAddress + 1).indexOf(')')
    const isLink = label.length < before.length && !label.includes(']') && !label.includes('\n')
    if (isLink && length >= 0) return { begin: close, end: close + length + 1 }
  }
  return undefined
}

/** Returns the offset after the marks of the word that ends at an offset, and after the address of a link. */
const afterMarks = (text: string, end: number): number => {
  endOfWord.lastIndex = end
  if (!endOfWord.test(text)) return end
  let at = end
  for (;;) {
    marks.lastIndex = at
    const next = at + (marks.exec(text)?.[0].length ?? 0)
    const link = linkIn(text, at, next)
    if (!link) return next
    at = link.end
  }
}

const isAddressCharacter = (character: string | undefined): boolean =>
  character !== undefined && character > ' ' && character <= '~'

/** A part of a URL or of an e-mail address by which it shows. */
const address = /\w:\/\/|\bwww\.|\w@[\w.-]+\.[a-z]/i

/** Returns the end of the word before a URL or an e-mail address if the offset is within one. */
const beforeAddress = (text: string, end: number): number => {
  let first = end
  while (isAddressCharacter(text[first - 1])) first--
  let last = end
  while (isAddressCharacter(text[last])) last++
  // The addresses of links are not spoken.
  for (let link = linkIn(text, first, end); link; link = linkIn(text, first, end)) first = link.end
  last = linkIn(text, end, last)?.begin ?? last
  const isAddress = address.test(text.slice(first, last))
  return isAddress && /[A-Za-z0-9]/.test(text.slice(end, last)) ? text.slice(0, first).trimEnd().length : end
}
