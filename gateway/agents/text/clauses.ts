import { PlainText } from './plain-text.ts'
import { wordList, wordsOf } from './words.ts'

/** Fewest words of a first piece that ends at a comma. */
const minFirstWords = 3
/** Length from which a piece may end at a comma, and at which it ends at a space. */
const longClause = 160
const longestPiece = 400
/** Length at which a piece without a space ends anywhere. */
const longestWord = 1000

const abbreviations = new Set(
  wordList(
    'dr,mr,mrs,ms,prof,st,vs,eg,ie,etc,approx,dept,no,ext,fig,zb,dh,bzw,ca,nr,str,tel,hr,fr,ggf',
    'evtl,inkl,zzgl,usw,vgl,sr,sra,srta,dra,ud,uds,mme,mlle,m,mm,av,bd,env,jan,feb,aug,sept,oct',
    'nov,dec,inc,ltd,corp,co,min,max,us,uk,jr',
  ),
)

/** Longest word whose end is examined for an abbreviation. */
const maxAbbreviation = 12

const stops = '.!?…'
const wideStops = '。！？'
const clauseMarks = ',;:—–'
const closers = '"\'”’)]»'
/** Number of closing marks after a stop, from which it ends no sentence. */
const maxClosers = 16

const pictographs = /[\p{Extended_Pictographic}\u{1F1E6}-\u{1F1FF}\u{1F3FB}-\u{1F3FF}\uFE0F\u20E3]\u200D?/gu

const isBlank = (character: string): boolean => character.trim() === ''

/** Returns a piece as it is spoken: without pictographs, with single spaces. */
const spoken = (piece: string): string =>
  piece
    .replace(pictographs, (mark) => ('©®™'.includes(mark) ? mark : ''))
    .split(/\s/)
    .filter((word) => word !== '')
    .join(' ')

const lastWord = (text: string): string => {
  const tail = text.slice(-maxAbbreviation)
  const word = tail.slice(tail.lastIndexOf(' ') + 1)
  return word.toLowerCase()
}

/** Whether the stop at the end of a text ends a sentence, rather than an abbreviation or an ordinal. */
const endsSentence = (text: string): boolean => {
  let end = text.length
  const least = Math.max(0, end - maxClosers)
  while (end > least && closers.includes(text[end - 1]!)) end--
  if (end === least) return false
  if (text[end - 1] !== '.') return stops.includes(text[end - 1]!)
  if (text[end - 2] === '.') return true
  const word = lastWord(text.slice(0, end)).slice(0, -1)
  const letters = word.replaceAll('.', '').replace('(', '')
  const isOrdinal = letters !== '' && letters.length <= 2 && [...letters].every((c) => c >= '0' && c <= '9')
  const isInitial = letters.length === 1 && letters !== 'i' && letters.toLowerCase() !== letters.toUpperCase()
  return !(isOrdinal || isInitial || abbreviations.has(letters) || isDotted(word))
}

/** Characters inside a word by which it is an address, a path or a number: more of it may follow its dot. */
const innerMarks = './\\@:_=&#0123456789'

/** Longest plain word with its marks, in characters. */
const maxPlainWord = 64

/** Whether a text ends with a plain word and marks of a clause after it. */
const endsWithPlainWord = (text: string): boolean => {
  if (text.length - text.lastIndexOf(' ') - 1 > maxPlainWord) return false
  const word = [...text.slice(text.lastIndexOf(' ') + 1)]
  while (word.length > 0 && (stops + clauseMarks + closers).includes(word.at(-1)!)) word.pop()
  const last = word.at(-1) ?? ''
  const isLetter = last.toLowerCase() !== last.toUpperCase()
  return isLetter && !word.some((character) => innerMarks.includes(character))
}

/** Whether a word has inner dots between single letters, such as `e.g` or `a.m`. */
const isDotted = (word: string): boolean => {
  const parts = word.split('.')
  return parts.length > 1 && parts.every((part) => part.length === 1)
}

/**
 * Divides the text of a model into pieces for a voice, as it comes. The first piece ends at the first clause
 * of three words or more, so that the voice begins early. Later ones end with a sentence or a line; long
 * ones, with a clause, or anywhere if they have no spaces. Marks of Markdown, thoughts and pictographs are
 * left out. Any division of the input gives the same pieces, in linear time; only {@link early} depends on
 * it.
 */
export class Clauses {
  readonly #plain = new PlainText()
  #piece = ''
  #isFirst = true
  /** Whether marks that may belong to the last piece are dropped: it ended before they came. */
  #isAfterEarly = false

  /** Adds text; returns the pieces that are complete. */
  push(text: string): string[] {
    return this.#divide(this.#plain.push(text))
  }

  /**
   * Ends the first piece if it is a clause as far as it came: at the end of a token, after a plain word. The
   * voice need not wait for the token after it, which makes sure that the clause has ended.
   */
  early(): string[] {
    if (!this.#isFirst || this.#piece === '') return []
    const pieces = endsWithPlainWord(`${this.#piece}!`) ? this.#divide(this.#plain.settle()) : []
    if (pieces.length > 0 || !this.#isClause() || !endsWithPlainWord(this.#piece)) return pieces
    this.#isAfterEarly = true
    return this.#cut()
  }

  /** Ends the text; returns the rest. */
  end(): string[] {
    return [...this.#divide(this.#plain.end()), ...this.#cut()]
  }

  #divide(text: string): string[] {
    const pieces: string[] = []
    for (let at = 0; at < text.length; at++) {
      const character = text[at]!
      if (this.#isAfterEarly && (stops + closers).includes(character)) continue
      this.#isAfterEarly = false
      // Pieces end before white space, so the character after a stop is known.
      if (isBlank(character) && this.#isComplete(character)) pieces.push(...this.#cut())
      if (this.#piece !== '' || !isBlank(character)) this.#piece += character
      if (wideStops.includes(character) || this.#isTooLong(character)) pieces.push(...this.#cut())
    }
    return pieces
  }

  #isComplete(next: string): boolean {
    const piece = this.#piece
    if (piece === '') return false
    if (next === '\n' || piece.length >= longestPiece) return true
    return this.#isClause()
  }

  /** Whether the piece has to end after a character, unless that is the first half of a pair. */
  #isTooLong(character: string): boolean {
    return this.#piece.length >= longestWord && !(character >= '\ud800' && character <= '\udbff')
  }

  /** Whether the piece so far ends with a mark that ends it. */
  #isClause(): boolean {
    const piece = this.#piece
    const last = piece.at(-1)!
    if (isBlank(last)) return false
    if (stops.includes(last) || closers.includes(last)) return endsSentence(piece)
    if (!clauseMarks.includes(last)) return false
    if (piece.length >= longClause) return true
    return this.#isFirst && wordsOf(piece).length >= minFirstWords
  }

  #cut(): string[] {
    const piece = spoken(this.#piece)
    this.#piece = ''
    // Nothing can be said of a piece without letters and digits.
    if (wordsOf(piece).length === 0) return []
    this.#isFirst = false
    return [piece]
  }
}

/** Divides a complete text into pieces for a voice; see {@link Clauses}. */
export const dividedText = (text: string): string[] => {
  const clauses = new Clauses()
  return [...clauses.push(text), ...clauses.end()]
}
