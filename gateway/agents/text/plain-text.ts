/** Result of a rule: characters consumed, and the text in their place. `undefined`: more input is needed. */
type Step = { readonly length: number; readonly text: string } | undefined

/** Input of a rule: everything received and not consumed, and the character before it. */
interface Input {
  readonly text: string
  readonly at: number
  readonly before: string
  readonly isLineStart: boolean
  readonly isEnded: boolean
}

type Rule = (input: Input) => Step

/** Names of tags around thoughts of a model, which are not spoken. */
const thoughtTags = ['think', 'thinking', 'thought', 'reasoning']

/** Longest text of a link, and longest address. */
const maxLinkText = 300
const maxAddress = 2000

const isBlank = (character: string | undefined): boolean => character === undefined || character.trim() === ''
const isDigit = (character: string | undefined): boolean =>
  character !== undefined && character >= '0' && character <= '9'
const isPlain = (character: string): boolean =>
  character !== '' && !isBlank(character) && !'.,;:!?()[]{}"\'*_~'.includes(character)

/** Longest run of marks that counts as one. */
const maxRun = 64

/** Length of the run of `character` at the position; undefined if it may go on. */
const runLength = ({ text, at, isEnded }: Input, character: string): number | undefined => {
  let end = at
  while (text[end] === character && end - at < maxRun) end++
  return end < text.length || end - at === maxRun || isEnded ? end - at : undefined
}

/** Position of a character within `max` characters from `from` on, else -1. */
const find = (text: string, character: string, from: number, max: number): number => {
  const at = text.slice(from, from + max + 1).indexOf(character)
  return at < 0 ? -1 : from + at
}

const keep = (character: string): Step => ({ length: 1, text: character })
const drop = (length: number): Step => ({ length, text: '' })

/** Marks of emphasis: `*`, `_` and `~`. */
const emphasis: Rule = (input) => {
  const character = input.text[input.at]!
  const length = runLength(input, character)
  if (length === undefined) return undefined
  const next = input.text[input.at + length]
  if (character === '*' && input.isLineStart && length === 1 && isBlank(next)) return drop(next ? 2 : 1)
  if (input.isLineStart && length >= 3 && isBlank(next)) return drop(length)
  if (length > 1) return character === '_' && isPlain(input.before) ? take(input, length) : drop(length)
  const opens = !isPlain(input.before) && next !== undefined && !isBlank(next) && !isDigit(next)
  const closes = input.before !== '' && !isBlank(input.before) && (next === undefined || !isPlain(next))
  return character !== '~' && (opens || closes) ? drop(1) : keep(character)
}

const take = ({ text, at }: Input, length: number): Step => ({ length, text: text.slice(at, at + length) })

/** Back quotes: a fence at the beginning of a line is dropped with the name of its language. */
const code: Rule = (input) => {
  const length = runLength(input, '`')
  if (length === undefined) return undefined
  if (length < 3 || !input.isLineStart) return drop(length)
  const end = find(input.text, '\n', input.at, maxLinkText)
  if (end >= 0) return drop(end - input.at)
  if (input.text.length - input.at > maxLinkText) return drop(length)
  return input.isEnded ? drop(input.text.length - input.at) : undefined
}

/** Headings, quotes, bullets and rulers, at the beginning of a line. */
const lineMark: Rule = (input) => {
  const character = input.text[input.at]!
  if (!input.isLineStart) return keep(character)
  const length = runLength(input, character)
  if (length === undefined) return undefined
  const isRuler = character === '-' && length >= 3
  const isMark = isBlank(input.text[input.at + length]) && (character === '#' ? length <= 6 : length === 1)
  if (isRuler || character === '>') return drop(length)
  return isMark ? drop(Math.min(length + 1, input.text.length - input.at)) : take(input, length)
}

/** Link or picture: its text is kept. */
const link: Rule = ({ text, at, isEnded }) => {
  const close = find(text, ']', at, maxLinkText)
  const line = find(text, '\n', at, maxLinkText)
  const isTooLong = close < 0 && text.length - at > maxLinkText
  if (isTooLong || (line >= 0 && (close < 0 || line < close))) return keep('[')
  if (close < 0 || close + 1 === text.length) return isEnded ? keep('[') : undefined
  if (text[close + 1] !== '(') return keep('[')
  const end = find(text, ')', close, maxAddress)
  if (end >= 0) return { length: end + 1 - at, text: text.slice(at + 1, close) }
  if (end < 0 && !isEnded && text.length - close <= maxAddress) return undefined
  return { length: close + 1 - at, text: text.slice(at + 1, close) }
}

/** Begin of a picture, the address of which follows as in a link. */
const picture: Rule = ({ text, at, isEnded }) => {
  if (at + 1 === text.length && !isEnded) return undefined
  return text[at + 1] === '[' ? drop(1) : keep('!')
}

/** Tag of thoughts: begins what is dropped until its end. */
const thought: Rule = ({ text, at, isEnded }) => {
  const rest = text.slice(at + 1, at + 12).toLowerCase()
  for (const tag of thoughtTags) {
    if (rest.startsWith(`${tag}>`)) {
      const closing = `</${tag}>`
      // The text of a thought is dropped as it comes, in `PlainText.push`.
      return { length: tag.length + 2, text: thoughtMark + closing }
    }
    if (rest.startsWith(`/${tag}>`)) return drop(tag.length + 3)
    if (!isEnded && (`${tag}>`.startsWith(rest) || `/${tag}>`.startsWith(rest))) return undefined
  }
  return keep('<')
}

/** Prefix that no text contains: a step that begins a thought. */
const thoughtMark = '\u0000thought:'

const rules: Readonly<Record<string, Rule>> = {
  '*': emphasis,
  _: emphasis,
  '~': emphasis,
  '`': code,
  '#': lineMark,
  '>': lineMark,
  '-': lineMark,
  '+': lineMark,
  '[': link,
  '!': picture,
  '<': thought,
  '|': () => ({ length: 1, text: ' ' }),
  '\u0000': () => drop(1),
}

/**
 * Text to be spoken from the text of a model, as it comes: without the marks of Markdown and without a
 * model's thoughts (`<think>`). The text of links and of code is kept. Any division of the input gives the
 * same text, in linear time.
 */
export class PlainText {
  #waiting = ''
  #before = ''
  #isLineStart = true
  /** Closing tag of the thought in progress. */
  #thought: string | undefined

  /** Adds a piece; returns the text that is certain. */
  push(piece: string): string {
    this.#waiting += piece
    return this.#read(false)
  }

  /** Returns an exclamation mark that waits for what follows it: it begins no picture. */
  settle(): string {
    if (this.#waiting !== '!' || this.#thought) return ''
    this.#waiting = ''
    return this.#take('!', '!')
  }

  /** Ends the text; returns the rest. */
  end(): string {
    return this.#read(true)
  }

  #read(isEnded: boolean): string {
    const text = this.#waiting
    let output = ''
    let at = 0
    while (at < text.length) {
      if (this.#thought) {
        const end = this.#endOfThought(text, at, isEnded)
        if (end === at) break
        at = end
        continue
      }
      const input = { text, at, before: this.#before, isLineStart: this.#isLineStart, isEnded }
      const step = (rules[text[at]!] ?? (() => keep(text[at]!)))(input)
      if (!step) break
      output += this.#take(step.text, text.slice(at, at + step.length))
      at += step.length
    }
    this.#waiting = isEnded ? '' : text.slice(at)
    return output
  }

  #take(output: string, source: string): string {
    if (output.startsWith(thoughtMark)) {
      this.#thought = output.slice(thoughtMark.length)
      return ''
    }
    this.#before = source.at(-1)!
    this.#isLineStart = (this.#isLineStart && output.trim() === '') || source.endsWith('\n')
    return output
  }

  /** Position after the thought, or before what may be its closing tag. */
  #endOfThought(text: string, from: number, isEnded: boolean): number {
    const tag = this.#thought!
    for (let at = text.indexOf('<', from); at >= 0; at = text.indexOf('<', at + 1)) {
      const found = text.slice(at, at + tag.length).toLowerCase()
      if (found === tag) {
        this.#thought = undefined
        return at + tag.length
      }
      if (!isEnded && tag.startsWith(found)) return at
    }
    return text.length
  }
}
