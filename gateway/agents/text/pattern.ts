import { isWordCharacter } from './words.ts'

/** Work that one or several replacements in a text may still do. */
export interface Effort {
  /** Steps of the search. When they are used up, the rest of the text stays as it is. */
  steps: number
  /** Characters to insert; a replacement that needs more is not made. */
  characters: number
  /** Whether the work did not suffice. */
  isExceeded: boolean
}

/** Returns the work that the replacements in one text may do: it takes about a tenth of a second. */
export const newEffort = (): Effort => ({ steps: 200_000, characters: 20_000, isExceeded: false })

/** Compiled pattern. Time is linear in the length of the text. */
export interface Pattern {
  /** Whether the pattern matches anywhere in the text. */
  matches(text: string): boolean
  /**
   * Replaces all matches, each the first and longest one, by a plain text. `effort`: is used up; default a
   * new one.
   */
  replace(text: string, by: string, effort?: Effort): string
}

/** Most states of a pattern, and most characters of a text that is searched; the rest of it is ignored. */
const maxStates = 500
/** Maximum number of parts that are built, with their repetitions. */
const maxBuilds = 10_000
const maxText = 5000

type Test = (character: string) => boolean

/** State of the automaton. `split` has one or two ways on; `end` is the match. */
type State =
  | { readonly kind: 'test'; readonly test: Test; next: number }
  | { readonly kind: 'split'; next: number; other: number | undefined }
  | { readonly kind: 'assert'; readonly at: 'start' | 'end' | 'word' | 'inside'; next: number }
  | { readonly kind: 'end' }

/** Part of a pattern: its tree. */
type Tree =
  | { readonly kind: 'test'; readonly test: Test }
  | { readonly kind: 'assert'; readonly at: 'start' | 'end' | 'word' | 'inside' }
  | { readonly kind: 'sequence'; readonly parts: readonly Tree[] }
  | { readonly kind: 'choice'; readonly parts: readonly Tree[] }
  | { readonly kind: 'repeat'; readonly part: Tree; readonly min: number; readonly max: number | undefined }

/** Thrown for a form that is not supported. Never leaves this file. */
class UnsupportedPattern extends Error {}

const isDigit: Test = (c) => c >= '0' && c <= '9'
const isWord: Test = (c) => isWordCharacter(c) || c === '_'
const isSpace: Test = (c) => c.trim() === ''
const not =
  (test: Test): Test =>
  (c) =>
    !test(c)

const classes: Readonly<Record<string, Test>> = {
  d: isDigit,
  D: not(isDigit),
  w: isWord,
  W: not(isWord),
  s: isSpace,
  S: not(isSpace),
}
const controls: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' }
const maxRepeat = 100
const maxDepth = 50

/** Reads a pattern: the forms of PCRE that an automaton without memory has. */
class PatternReader {
  readonly #source: readonly string[]
  #at = 0
  #depth = 0
  #ignoreCase: boolean

  constructor(source: string, ignoreCase: boolean) {
    this.#source = [...source]
    this.#ignoreCase = ignoreCase
  }

  read(): Tree {
    const tree = this.#choice()
    if (this.#at < this.#source.length) throw new UnsupportedPattern()
    return tree
  }

  get #next(): string | undefined {
    return this.#source[this.#at]
  }

  #take(): string {
    const character = this.#source[this.#at++]
    if (character === undefined) throw new UnsupportedPattern()
    return character
  }

  #skip(text: string): boolean {
    if (!text.split('').every((c, i) => this.#source[this.#at + i] === c)) return false
    this.#at += text.length
    return true
  }

  #choice(): Tree {
    const parts = [this.#sequence()]
    while (this.#skip('|')) parts.push(this.#sequence())
    return parts.length === 1 ? parts[0]! : { kind: 'choice', parts }
  }

  #sequence(): Tree {
    const parts: Tree[] = []
    while (this.#next !== undefined && this.#next !== '|' && this.#next !== ')') {
      if (this.#skip('(?i)')) this.#ignoreCase = true
      else parts.push(this.#repeat(this.#atom()))
    }
    return { kind: 'sequence', parts }
  }

  #repeat(part: Tree): Tree {
    let tree = part
    for (;;) {
      const range = this.#range()
      if (!range) return tree
      // Lazy forms match the same texts; possessive ones do not.
      if (this.#next === '+') throw new UnsupportedPattern()
      this.#skip('?')
      if (tree.kind === 'assert') throw new UnsupportedPattern()
      tree = { kind: 'repeat', part: tree, ...range }
    }
  }

  #range(): { readonly min: number; readonly max: number | undefined } | undefined {
    if (this.#skip('*')) return { min: 0, max: undefined }
    if (this.#skip('+')) return { min: 1, max: undefined }
    if (this.#skip('?')) return { min: 0, max: 1 }
    if (this.#next !== '{') return undefined
    const end = this.#source.indexOf('}', this.#at)
    const [min, max, ...rest] = this.#source
      .slice(this.#at + 1, end)
      .join('')
      .split(',')
    const read = (text: string): number => {
      const isNumber = text.length > 0 && text.length <= 3 && [...text].every(isDigit)
      if (!isNumber || Number(text) > maxRepeat) throw new UnsupportedPattern()
      return Number(text)
    }
    if (end < 0 || rest.length > 0) throw new UnsupportedPattern()
    this.#at = end + 1
    const least = read(min!)
    if (max === undefined) return { min: least, max: least }
    const most = max === '' ? undefined : read(max)
    if (most !== undefined && most < least) throw new UnsupportedPattern()
    return { min: least, max: most }
  }

  #atom(): Tree {
    const character = this.#take()
    if (character === '(') return this.#group()
    if (character === '[') return { kind: 'test', test: this.#set() }
    if (character === '.') return { kind: 'test', test: (c) => c !== '\n' }
    if (character === '^') return { kind: 'assert', at: 'start' }
    if (character === '$') return { kind: 'assert', at: 'end' }
    if (character === '\\') return this.#escape()
    if ('*+?{'.includes(character)) throw new UnsupportedPattern()
    return { kind: 'test', test: this.#literal(character) }
  }

  #group(): Tree {
    if (++this.#depth > maxDepth) throw new UnsupportedPattern()
    if (this.#next === '?' && !this.#skip('?:')) throw new UnsupportedPattern()
    const before = this.#ignoreCase
    const tree = this.#choice()
    this.#ignoreCase = before
    if (!this.#skip(')')) throw new UnsupportedPattern()
    this.#depth--
    return tree
  }

  #escape(): Tree {
    const character = this.#take()
    if (character === 'b') return { kind: 'assert', at: 'word' }
    if (character === 'B') return { kind: 'assert', at: 'inside' }
    if (character === 'A') return { kind: 'assert', at: 'start' }
    if (character === 'z' || character === 'Z') return { kind: 'assert', at: 'end' }
    return { kind: 'test', test: this.#escaped(character) }
  }

  #escaped(character: string): Test {
    const found = classes[character]
    if (found) return found
    const control = controls[character]
    if (control === undefined && isWord(character)) throw new UnsupportedPattern()
    return this.#literal(control ?? character)
  }

  #literal(character: string): Test {
    if (!this.#ignoreCase) return (c) => c === character
    const lower = character.toLowerCase()
    return (c) => c === character || c.toLowerCase() === lower
  }

  #set(): Test {
    const isNegative = this.#skip('^')
    const tests: Test[] = []
    for (let isFirst = true; isFirst || this.#next !== ']'; isFirst = false) tests.push(this.#member())
    this.#at++
    const test: Test = (c) => tests.some((member) => member(c))
    return isNegative ? not(test) : test
  }

  #member(): Test {
    const from = this.#take()
    if (from === '[' && this.#next === ':') throw new UnsupportedPattern()
    if (from === '\\') return this.#escaped(this.#take())
    if (this.#next !== '-' || this.#source[this.#at + 1] === ']') return this.#literal(from)
    this.#at++
    const to = this.#take()
    if (to === '\\' || to < from) throw new UnsupportedPattern()
    const isBetween: Test = (c) => c >= from && c <= to
    return this.#ignoreCase ? (c) => isBetween(c.toLowerCase()) || isBetween(c.toUpperCase()) : isBetween
  }
}

/** States that are being built, and the number of parts that were built so far. */
interface States {
  readonly all: State[]
  builds: number
}

/** Builds the states of a tree, from the end on. Returns the first state. */
const build = (states: States, tree: Tree, next: number): number => {
  // Repeated parts without a state of their own, such as `(){100}{100}{100}`, count too.
  if (++states.builds > maxBuilds) throw new UnsupportedPattern()
  const add = (state: State): number => {
    if (states.all.length >= maxStates) throw new UnsupportedPattern()
    return states.all.push(state) - 1
  }
  if (tree.kind === 'test') return add({ kind: 'test', test: tree.test, next })
  if (tree.kind === 'assert') return add({ kind: 'assert', at: tree.at, next })
  if (tree.kind === 'sequence') return tree.parts.reduceRight((to, part) => build(states, part, to), next)
  if (tree.kind === 'choice')
    return tree.parts
      .map((part) => build(states, part, next))
      .reduceRight((other, first) => add({ kind: 'split', next: first, other }))
  let to = next
  if (tree.max === undefined) {
    const loop: State = { kind: 'split', next, other: undefined }
    to = add(loop)
    loop.other = build(states, tree.part, to)
  } else
    for (let n = tree.min; n < tree.max; n++) {
      const first = build(states, tree.part, to)
      to = add({ kind: 'split', next: first, other: next })
    }
  for (let n = 0; n < tree.min; n++) to = build(states, tree.part, to)
  return to
}

/** Takes the characters of a text to insert. Returns false if there are too many. */
export const canInsert = (text: string, effort: Effort): boolean => {
  if (text.length > effort.characters) {
    effort.isExceeded = true
    return false
  }
  effort.characters -= text.length
  return true
}

/** Match: code points from `start` to `end`. */
interface Match {
  readonly start: number
  readonly end: number
}

/** Automaton that follows all ways at once. */
class Automaton implements Pattern {
  readonly #states: readonly State[]
  readonly #first: number
  constructor(states: readonly State[], first: number) {
    this.#states = states
    this.#first = first
  }

  readonly matches = (text: string): boolean => {
    const unlimited = { steps: Number.POSITIVE_INFINITY }
    return this.#find([...text.slice(0, maxText)], 0, { isAny: true, effort: unlimited }) !== undefined
  }

  readonly replace = (text: string, by: string, effort = newEffort()): string => {
    const characters = [...text]
    if (characters.length > maxText) return text
    const parts: string[] = []
    let at = 0
    while (at <= characters.length && effort.steps > 0) {
      const match = this.#find(characters, at, { isAny: false, effort })
      if (!match) break
      // A match without text changes nothing.
      const isEmpty = match.end === match.start
      if (!isEmpty && !canInsert(by, effort)) break
      parts.push(characters.slice(at, match.start).join(''), isEmpty ? '' : by)
      at = match.end
      if (isEmpty) parts.push(characters[at++] ?? '')
    }
    effort.isExceeded ||= effort.steps <= 0
    return parts.join('') + characters.slice(at).join('')
  }

  /** Finds the first match from a position on, and the longest one that begins there. */
  #find(
    text: readonly string[],
    from: number,
    { isAny, effort }: { readonly isAny: boolean; readonly effort: Pick<Effort, 'steps'> },
  ): Match | undefined {
    let found: Match | undefined
    /** Start of the earliest way to each state. */
    let ways = new Map<number, number>()
    for (let at = from; at <= text.length; at++) {
      // What was found so far may not be the longest match.
      if (effort.steps <= 0) return undefined
      const reached = new Map<number, number>()
      // The earliest way to a state comes first, so each state is followed once.
      const earliest = [...ways].sort(([, a], [, b]) => a - b)
      for (const [state, start] of earliest) effort.steps -= this.#follow(state, start, text, at, reached)
      if (!found) effort.steps -= this.#follow(this.#first, at, text, at, reached)
      ways = new Map()
      for (const [index, start] of reached) {
        const state = this.#states[index]!
        if (state.kind === 'end' && (!found || start <= found.start)) found = { start, end: at }
        if (state.kind !== 'test' || text[at] === undefined || !state.test(text[at]!)) continue
        if ((ways.get(state.next) ?? Infinity) > start) ways.set(state.next, start)
      }
      if (found && isAny) return found
      if (found) for (const [state, start] of ways) if (start > found.start) ways.delete(state)
      if (found && ways.size === 0) return found
    }
    return found
  }

  /** Adds a state, and those that it leads to without a character. Returns the number of its steps. */
  #follow(
    first: number,
    start: number,
    text: readonly string[],
    at: number,
    reached: Map<number, number>,
  ): number {
    const waiting = [first]
    let steps = 0
    while (waiting.length > 0) {
      const index = waiting.pop()!
      steps++
      if ((reached.get(index) ?? Infinity) <= start) continue
      reached.set(index, start)
      const state = this.#states[index]!
      if (state.kind === 'split') {
        waiting.push(state.next)
        if (state.other !== undefined) waiting.push(state.other)
      } else if (state.kind === 'assert' && holds(state.at, text, at)) waiting.push(state.next)
    }
    return steps
  }
}

const holds = (
  assertion: 'start' | 'end' | 'word' | 'inside',
  text: readonly string[],
  at: number,
): boolean => {
  if (assertion === 'start') return at === 0
  if (assertion === 'end') return at === text.length
  const isBoundary = isWord(text[at - 1] ?? ' ') !== isWord(text[at] ?? ' ')
  return isBoundary === (assertion === 'word')
}

/** Returns the pattern and the flag of `/pattern/i`, or the text itself. */
const withoutSlashes = (source: string): { readonly text: string; readonly ignoreCase: boolean } => {
  const end = source.lastIndexOf('/')
  const flags = source.slice(end + 1)
  if (!source.startsWith('/') || end < 1 || !['', 'i'].includes(flags))
    return { text: source, ignoreCase: false }
  return { text: source.slice(1, end), ignoreCase: flags === 'i' }
}

/**
 * Compiles a regular expression of a document, bare or as `/…/i`: the forms that need no memory. Literals,
 * `.`, sets, `\d \w \s \b \A \z` and their opposites, groups, `|`, `* + ? {m,n}` and `(?i)`. Returns
 * undefined for other forms (references, look-around, named and possessive ones), and if it is too large. The
 * result runs in linear time, unlike a `RegExp`, so it is safe on any text.
 */
export const compilePattern = (source: string, ignoreCase: boolean): Pattern | undefined => {
  const { text, ignoreCase: isMarked } = withoutSlashes(source)
  if (text.length > maxStates) return undefined
  try {
    const states: States = { all: [{ kind: 'end' }], builds: 0 }
    const first = build(states, new PatternReader(text, ignoreCase || isMarked).read(), 0)
    return new Automaton(states.all, first)
  } catch (error) {
    if (error instanceof UnsupportedPattern) return undefined
    throw error
  }
}
