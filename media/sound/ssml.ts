import { SoundError } from './errors.ts'
import { hasMarkup, type Token, tokensOf } from './ssml-tokens.ts'
import { writeSsml } from './ssml-write.ts'

/** Part of a speech: text or a pause. */
export type SpokenPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'pause'; readonly ms: number }

/** Text parsed for speech. */
export interface ParsedSpeech {
  readonly parts: readonly SpokenPart[]
  /** Problems in the markup, for people; empty for plain text. */
  readonly warnings: readonly string[]
  /** The text as well-formed SSML with root `speak`; undefined for plain text and faulty markup. */
  readonly ssml?: string
}

/** Maximum length of a text in characters, without markup. */
export const maxTextLength = 4096
/** Maximum length in characters, including markup. */
export const maxMarkupLength = 16_384

/** Maximum nesting of elements; deeper tags are ignored. */
const maxDepth = 32
/**
 * Maximum number of pauses; further ones become blanks, because each pause may split the text into more
 * requests.
 */
const maxPauses = 50
/** Maximum length of a pause, in ms. */
const maxPauseMs = 10_000
/** Pauses after a paragraph and a sentence, in ms. */
const paragraphMs = 700
const sentenceMs = 350

/** Elements whose tags are dropped and whose text is spoken. */
const plain = (
  'speak voice prosody emphasis lang phoneme w token mark ' + 'audio p paragraph s sentence sub say-as break'
).split(' ')
/** Elements whose content is not spoken. */
const silent = ['desc', 'metadata', 'meta', 'lexicon']
const isKnown = (name: string): boolean =>
  plain.includes(name) || silent.includes(name) || name.startsWith('amazon:')

/** Lengths of breaks by `strength`, in ms (undefined in the W3C's SSML). */
const strengths: Readonly<Record<string, number>> = {
  none: 0,
  'x-weak': 100,
  weak: 200,
  medium: 500,
  strong: 800,
  'x-strong': 1200,
}

/**
 * Parses text with or without SSML. Supports `break`, `p`, `s`, `sub` and `say-as` (digits, characters,
 * spell-out, telephone); text in other elements is spoken without the tags. Faulty markup is omitted with a
 * warning. Throws a {@link SoundError} for a text that is too long or has nothing to speak.
 */
export const parseSpeech = (text: string): ParsedSpeech => {
  if (text.length > maxMarkupLength) throw tooLong(maxMarkupLength, text.length)
  const reader = new SpeechParser()
  const marked = hasMarkup(text)
  const tokens: readonly Token[] = marked ? [...tokensOf(text, isKnown)] : [{ kind: 'text', text }]
  for (const token of tokens) reader.take(token)
  const { parts, warnings } = reader.finish()
  const length = parts.reduce((sum, part) => sum + (part.kind === 'text' ? part.text.length : 0), 0)
  if (length > maxTextLength) throw tooLong(maxTextLength, length)
  if (length === 0) throw new SoundError('Speech: letters or digits expected, found none')
  return { parts, warnings, ...(marked && warnings.length === 0 && { ssml: writeSsml(tokens, silent) }) }
}

const tooLong = (most: number, found: number): SoundError =>
  new SoundError(`Speech: at most ${most} characters expected, found ${found}`)

/** An open element. */
interface OpenElement {
  readonly name: string
  /** Whether the text is omitted. */
  readonly isDropped: boolean
  /** Whether the text is spelled. */
  readonly isSpelled: boolean
}

type Part = SpokenPart & { readonly soft?: boolean }

class SpeechParser {
  readonly #spoken: Part[] = []
  readonly #warnings: string[] = []
  readonly #open: OpenElement[] = []
  #text = ''
  #pauses = 0

  take(token: Token): void {
    if (token.kind === 'text') this.#say(token.text)
    else if (token.kind === 'fault') this.#fault(token.what)
    else if (token.kind === 'close') this.#closeTo(token.name)
    else this.#enter(token.name, token.attributes, token.kind === 'empty')
  }

  finish(): { readonly parts: readonly SpokenPart[]; readonly warnings: readonly string[] } {
    const last = this.#open.at(-1)
    if (last) this.#warn(`the tag <${last.name}> is never closed`)
    while (this.#open.length > 0) this.#leave()
    this.#flush()
    if (this.#spoken.at(-1)?.soft) this.#spoken.pop()
    return { parts: this.#spoken.map(({ soft, ...part }) => part), warnings: this.#warnings }
  }

  #warn(what: string): void {
    if (this.#warnings.length < 5) this.#warnings.push(what)
  }

  /** Omitted markup separates the words around it. */
  #fault(what: string): void {
    this.#warn(what)
    this.#text += ' '
  }

  #say(text: string): void {
    if (this.#open.some(({ isDropped: dropped }) => dropped)) return
    this.#text += this.#open.some(({ isSpelled: spelled }) => spelled) ? ` ${spell(text)} ` : text
  }

  #enter(name: string, attributes: ReadonlyMap<string, string>, isEmpty: boolean): void {
    if (!isKnown(name)) this.#warn(`the tag <${name}> is not known`)
    if (name === 'break') this.#pause(this.#lengthOf(attributes), false)
    this.#edge(name)
    const alias = name === 'sub' ? attributes.get('alias') : undefined
    if (alias !== undefined) this.#say(alias)
    // A break has no content, in either notation.
    if (isEmpty) return
    if (this.#open.length === maxDepth) {
      this.#warn(`more than ${maxDepth} tags are open`)
      return
    }
    const how = name === 'say-as' ? (attributes.get('interpret-as') ?? '').toLowerCase() : ''
    const dropped = alias !== undefined || silent.includes(name) || how === 'expletive'
    this.#open.push({ name, isDropped: dropped, isSpelled: spelledKinds.includes(how) })
  }

  #closeTo(name: string): void {
    if (!this.#open.some((open) => open.name === name)) {
      if (this.#open.length < maxDepth) this.#warn(`the tag </${name}> closes nothing`)
      return
    }
    while (this.#open.at(-1)?.name !== name) {
      this.#warn(`the tag <${this.#open.at(-1)?.name}> is not closed before </${name}>`)
      this.#leave()
    }
    this.#leave()
  }

  #leave(): void {
    const open = this.#open.pop()
    if (open) this.#edge(open.name)
  }

  /** Inserts the pause at the start or end of a paragraph or sentence. */
  #edge(name: string): void {
    if (name === 'p' || name === 'paragraph') this.#pause(paragraphMs, true)
    if (name === 's' || name === 'sentence') this.#pause(sentenceMs, true)
  }

  #lengthOf(attributes: ReadonlyMap<string, string>): number {
    const time = attributes.get('time')
    const strength = attributes.get('strength')
    if (time !== undefined) {
      const [, number, unit] = /^\+?(\d+(?:\.\d+)?|\.\d+)(ms|s)$/.exec(time.trim()) ?? []
      if (number) return Math.min(maxPauseMs, Math.round(Number(number) * (unit === 's' ? 1000 : 1)))
      this.#warn('the time of <break> is no number of ms or s')
    } else if (strength !== undefined) {
      if (Object.hasOwn(strengths, strength)) return strengths[strength]!
      this.#warn('the strength of <break> is not known')
    }
    return strengths.medium!
  }

  /** Adds a pause. A soft pause counts only between texts, and not next to another pause. */
  #pause(ms: number, soft: boolean): void {
    this.#flush()
    const last = this.#spoken.at(-1)
    if (last?.kind === 'pause') {
      const sum = soft || last.soft ? Math.max(last.ms, ms) : last.ms + ms
      this.#spoken[this.#spoken.length - 1] = {
        kind: 'pause',
        ms: Math.min(maxPauseMs, sum),
        ...(last.soft && soft && { soft }),
      }
    } else if (soft && !last) return
    else if (ms > 0 && this.#pauses++ < maxPauses) {
      this.#spoken.push({ kind: 'pause', ms, ...(soft && { soft }) })
    }
  }

  /** Ends the current text part, if it has anything to speak. */
  #flush(): void {
    const text = this.#text.replace(/\s+/g, ' ').trim()
    this.#text = ''
    if (!/[\p{L}\p{N}]/u.test(text)) return
    const last = this.#spoken.at(-1)
    // Two texts may be adjacent, because a pause beyond the maximum was dropped between them.
    if (last?.kind === 'text')
      this.#spoken[this.#spoken.length - 1] = { kind: 'text', text: `${last.text} ${text}` }
    else this.#spoken.push({ kind: 'text', text })
  }
}

const spelledKinds = ['digits', 'characters', 'spell-out', 'verbatim', 'telephone']

/** Separates letters and digits by spaces; drops other characters, such as the plus of a telephone number. */
const spell = (text: string): string => [...text.replace(/[^\p{L}\p{N}]+/gu, '')].join(' ')
