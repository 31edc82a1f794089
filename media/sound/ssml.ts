import { SoundError } from './errors.ts'
import { hasMarkup, type Token, tokensOf } from './ssml-tokens.ts'
import { writeSsml } from './ssml-write.ts'

/** A part of what is spoken. */
export type SpokenPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'pause'; readonly ms: number }

/** A text as it is to be spoken. */
export interface Reading {
  readonly parts: readonly SpokenPart[]
  /** What was wrong with its markup, for people; none in plain text. */
  readonly warnings: readonly string[]
  /** The text as well-formed SSML with `speak` as its root; undefined for plain text, and where its markup is faulty. */
  readonly ssml?: string
}

/** Longest text that is spoken at once, in characters, without its markup. */
export const longestText = 4096
/** The same with its markup. */
export const longestMarkup = 16_384

/** Deeper elements than this are passed over as tags without a meaning. */
const deepest = 32
/** More pauses than this are blanks: each one may be a request to a voice of its own. */
const mostPauses = 50
/** Longest pause, in ms. */
const longestPause = 10_000
/** Pauses after what ends a paragraph and a sentence, in ms. */
const paragraphMs = 700
const sentenceMs = 350

/** Elements whose tags are dropped and whose text is spoken. */
const plain =
  'speak voice prosody emphasis lang phoneme w token mark audio p paragraph s sentence sub say-as break'.split(
    ' ',
  )
/** Elements whose content is not spoken. */
const silent = ['desc', 'metadata', 'meta', 'lexicon']
const isKnown = (name: string): boolean =>
  plain.includes(name) || silent.includes(name) || name.startsWith('amazon:')

/** By `strength` of a break, in ms (the W3C's SSML leaves the lengths open). */
const strengths: Readonly<Record<string, number>> = {
  none: 0,
  'x-weak': 100,
  weak: 200,
  medium: 500,
  strong: 800,
  'x-strong': 1200,
}

/**
 * Reads text with or without SSML. Of the markup, `break`, `p`, `s`, `sub` and `say-as` (digits, characters, spell-out, telephone) are
 * honoured, of everything else the text is spoken without its tags. Faulty markup is left out, with a warning. Throws a
 * {@link SoundError} for a text that is too long, or in which nothing is left to speak.
 */
export const readSpeech = (text: string): Reading => {
  if (text.length > longestMarkup) throw tooLong(longestMarkup, text.length)
  const reader = new Reader()
  const marked = hasMarkup(text)
  const tokens: readonly Token[] = marked ? [...tokensOf(text, isKnown)] : [{ kind: 'text', text }]
  for (const token of tokens) reader.take(token)
  const { parts, warnings } = reader.finish()
  const length = parts.reduce((sum, part) => sum + (part.kind === 'text' ? part.text.length : 0), 0)
  if (length > longestText) throw tooLong(longestText, length)
  if (length === 0) throw new SoundError('Speech: letters or digits expected, found none')
  return { parts, warnings, ...(marked && warnings.length === 0 && { ssml: writeSsml(tokens, silent) }) }
}

const tooLong = (most: number, found: number): SoundError =>
  new SoundError(`Speech: at most ${most} characters expected, found ${found}`)

/** An element that is open. */
interface Open {
  readonly name: string
  /** Its text is left out. */
  readonly dropped: boolean
  /** Its text is spelled. */
  readonly spelled: boolean
}

type Part = SpokenPart & { readonly soft?: boolean }

class Reader {
  readonly #parts: Part[] = []
  readonly #warnings: string[] = []
  readonly #open: Open[] = []
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
    if (this.#parts.at(-1)?.soft) this.#parts.pop()
    return { parts: this.#parts.map(({ soft, ...part }) => part), warnings: this.#warnings }
  }

  #warn(what: string): void {
    if (this.#warnings.length < 5) this.#warnings.push(what)
  }

  /** What is left out parts what is around it. */
  #fault(what: string): void {
    this.#warn(what)
    this.#text += ' '
  }

  #say(text: string): void {
    if (this.#open.some(({ dropped }) => dropped)) return
    this.#text += this.#open.some(({ spelled }) => spelled) ? ` ${spell(text)} ` : text
  }

  #enter(name: string, attributes: ReadonlyMap<string, string>, isEmpty: boolean): void {
    if (!isKnown(name)) this.#warn(`the tag <${name}> is not known`)
    if (name === 'break') this.#pause(this.#lengthOf(attributes), false)
    this.#edge(name)
    const alias = name === 'sub' ? attributes.get('alias') : undefined
    if (alias !== undefined) this.#say(alias)
    // A break has no content, however it is written.
    if (isEmpty) return
    if (this.#open.length === deepest) {
      this.#warn(`more than ${deepest} tags are open`)
      return
    }
    const how = name === 'say-as' ? (attributes.get('interpret-as') ?? '').toLowerCase() : ''
    const dropped = alias !== undefined || silent.includes(name) || how === 'expletive'
    this.#open.push({ name, dropped, spelled: spelledKinds.includes(how) })
  }

  #closeTo(name: string): void {
    if (!this.#open.some((open) => open.name === name)) {
      if (this.#open.length < deepest) this.#warn(`the tag </${name}> closes nothing`)
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

  /** Where a paragraph or a sentence begins or ends. */
  #edge(name: string): void {
    if (name === 'p' || name === 'paragraph') this.#pause(paragraphMs, true)
    if (name === 's' || name === 'sentence') this.#pause(sentenceMs, true)
  }

  #lengthOf(attributes: ReadonlyMap<string, string>): number {
    const time = attributes.get('time')
    const strength = attributes.get('strength')
    if (time !== undefined) {
      const [, number, unit] = /^\+?(\d+(?:\.\d+)?|\.\d+)(ms|s)$/.exec(time.trim()) ?? []
      if (number) return Math.min(longestPause, Math.round(Number(number) * (unit === 's' ? 1000 : 1)))
      this.#warn('the time of <break> is no number of ms or s')
    } else if (strength !== undefined) {
      if (Object.hasOwn(strengths, strength)) return strengths[strength]!
      this.#warn('the strength of <break> is not known')
    }
    return strengths.medium!
  }

  /** A soft pause counts only between texts, and not besides another one. */
  #pause(ms: number, soft: boolean): void {
    this.#flush()
    const last = this.#parts.at(-1)
    if (last?.kind === 'pause') {
      const sum = soft || last.soft ? Math.max(last.ms, ms) : last.ms + ms
      this.#parts[this.#parts.length - 1] = {
        kind: 'pause',
        ms: Math.min(longestPause, sum),
        ...(last.soft && soft && { soft }),
      }
    } else if (soft && !last) return
    else if (ms > 0 && this.#pauses++ < mostPauses) {
      this.#parts.push({ kind: 'pause', ms, ...(soft && { soft }) })
    }
  }

  /** The text so far is a part of its own, where there is anything to speak in it. */
  #flush(): void {
    const text = this.#text.replace(/\s+/g, ' ').trim()
    this.#text = ''
    if (!/[\p{L}\p{N}]/u.test(text)) return
    const last = this.#parts.at(-1)
    // Two texts meet where a pause was one too many.
    if (last?.kind === 'text')
      this.#parts[this.#parts.length - 1] = { kind: 'text', text: `${last.text} ${text}` }
    else this.#parts.push({ kind: 'text', text })
  }
}

const spelledKinds = ['digits', 'characters', 'spell-out', 'verbatim', 'telephone']

/** Each letter and digit by itself; other characters separate, those of a telephone number too. */
const spell = (text: string): string => [...text.replace(/[^\p{L}\p{N}]+/gu, '')].join(' ')
