/** Pattern without its delimiters. */
export interface ParsedPattern {
  readonly source: string
  readonly ignoreCase: boolean
}

/** Maximum length of a pattern, and of a text that it is applied to, in characters. */
const maxPatternLength = 4096
const maxTextLength = 32_768

/**
 * Reads a pattern as documents write it: bare, or `/…/i`. Of the flags only `i` is kept here. `m`, `s` and
 * `x` become a group of flags at the begin of the pattern.
 */
export const parsePattern = (text: string): ParsedPattern => {
  const end = text.lastIndexOf('/')
  const flags = text.slice(end + 1)
  if (!text.startsWith('/') || end === 0 || !/^[imsxuUADSXJg]*$/.test(flags))
    return { source: text, ignoreCase: false }
  const inline = [...new Set(flags)].filter((flag) => 'msx'.includes(flag)).join('')
  return {
    source: `${inline && `(?${inline})`}${text.slice(1, end)}`,
    ignoreCase: flags.includes('i'),
  }
}

/** Pattern in the dialect of JavaScript. */
export interface TranslatedPattern {
  readonly source: string
  readonly flags: string
}

/** Escapes of PCRE outside of a class, in the dialect of JavaScript. */
const escapes: Readonly<Record<string, string>> = {
  A: '(?<![\\s\\S])',
  z: '(?![\\s\\S])',
  Z: '(?=\\n?(?![\\s\\S]))',
  h: '[ \\t]',
  H: '[^ \\t]',
  R: '(?:\\r\\n|\\n|\\r)',
  N: '[^\\n]',
  K: '',
  G: '',
  a: '\\x07',
  e: '\\x1b',
}

/** Escapes of PCRE inside of a class. */
const classEscapes: Readonly<Record<string, string>> = { h: ' \\t', a: '\\x07', e: '\\x1b' }

/** Named classes of POSIX, for the inside of a class. */
const posix: Readonly<Record<string, string>> = {
  alpha: 'a-zA-Z',
  digit: '0-9',
  alnum: 'a-zA-Z0-9',
  upper: 'A-Z',
  lower: 'a-z',
  space: '\\s',
  blank: ' \\t',
  punct: '!-\\/:-@\\[-`{-~',
  xdigit: '0-9a-fA-F',
  word: '\\w',
}

const special = /[\\^$.*+?()[\]{}|/]/g

/** Translation of one pattern, character by character. */
class Translator {
  readonly #pattern: string
  readonly #flags: Set<string>
  readonly #parts: string[] = []
  #at = 0
  #isExtended = false

  constructor({ source, ignoreCase }: ParsedPattern) {
    this.#pattern = source
    this.#flags = new Set(ignoreCase ? ['i'] : [])
  }

  translate(): TranslatedPattern {
    while (this.#at < this.#pattern.length) this.#next()
    return { source: this.#parts.join(''), flags: [...this.#flags].join('') }
  }

  #next(): void {
    const character = this.#pattern[this.#at] ?? ''
    if (character === '\\') this.#escape()
    else if (character === '[') this.#class()
    else if (character === '(') this.#group()
    else if ('*+?}'.includes(character)) this.#quantifier(character)
    else if (this.#isExtended && /\s/.test(character)) this.#at += 1
    else if (this.#isExtended && character === '#') this.#skipTo('\n')
    else this.#take(character)
  }

  #take(written: string, made = written): void {
    this.#parts.push(made)
    this.#at += written.length
  }

  #skipTo(end: string): void {
    const found = this.#pattern.indexOf(end, this.#at)
    this.#at = found < 0 ? this.#pattern.length : found + end.length
  }

  #startsWith(text: string): boolean {
    return this.#pattern.startsWith(text, this.#at)
  }

  #escape(): void {
    const letter = this.#pattern[this.#at + 1] ?? ''
    if (letter === 'Q') this.#quoted()
    else if (this.#startsWith('\\x{')) this.#codePoint()
    else if (letter === 'p' || letter === 'P') this.#property()
    else if (Object.hasOwn(escapes, letter)) this.#take(`\\${letter}`, escapes[letter])
    else this.#take(`\\${letter}`)
  }

  /** Takes the text between \Q and \E literally. */
  #quoted(): void {
    this.#at += 2
    const begin = this.#at
    this.#skipTo('\\E')
    const text = this.#pattern.slice(begin, this.#at)
    this.#parts.push((text.endsWith('\\E') ? text.slice(0, -2) : text).replace(special, '\\$&'))
  }

  #codePoint(): void {
    const [written = '\\x', digits] = /^\\x\{([0-9a-fA-F]{1,6})\}/.exec(this.#rest(12)) ?? []
    if (digits !== undefined) this.#flags.add('u')
    this.#take(written, digits === undefined ? written : `\\u{${digits}}`)
  }

  #property(): void {
    const [written = '\\p', kind = 'p', name] =
      /^\\([pP])\{?\^?([A-Za-z_]{1,40})\}?/.exec(this.#rest(48)) ?? []
    this.#flags.add('u')
    this.#take(written, `\\${kind}{${name ?? ''}}`)
  }

  #rest(length: number): string {
    return this.#pattern.slice(this.#at, this.#at + length)
  }

  /** Takes a class such as `[a-z]`, in which brackets and quantifiers are literal. */
  #class(): void {
    this.#take(this.#startsWith('[^') ? '[^' : '[')
    // A bracket that comes first is literal.
    if (this.#startsWith(']')) this.#take(']', '\\]')
    while (this.#at < this.#pattern.length && !this.#startsWith(']')) this.#classMember()
    this.#take(']')
  }

  #classMember(): void {
    const [named, name = ''] = /^\[:\^?([a-z]{1,8}):\]/.exec(this.#rest(14)) ?? []
    const letter = this.#pattern[this.#at + 1] ?? ''
    if (named && Object.hasOwn(posix, name)) this.#take(named, posix[name])
    else if (this.#startsWith('\\x{')) this.#codePoint()
    else if (this.#startsWith('\\p') || this.#startsWith('\\P')) this.#property()
    else if (this.#startsWith('\\') && Object.hasOwn(classEscapes, letter))
      this.#take(`\\${letter}`, classEscapes[letter])
    else if (this.#startsWith('\\')) this.#take(`\\${letter}`)
    else if (this.#startsWith('[')) this.#take('[', '\\[')
    else this.#take(this.#pattern[this.#at] ?? '')
  }

  #group(): void {
    const [flags, on, colon] = /^\(\?([imsxJU]*)(?:-[imsxJU]*)?([:)])/.exec(this.#rest(24)) ?? []
    if (this.#startsWith('(?#')) this.#skipTo(')')
    else if (flags !== undefined && (on || flags.includes('-')))
      this.#inlineFlags(flags, on ?? '', colon === ':')
    else if (this.#startsWith('(?>')) this.#take('(?>', '(?:')
    else if (this.#startsWith('(?|')) this.#take('(?|', '(?:')
    else if (this.#startsWith('(?P<')) this.#take('(?P<', '(?<')
    else if (this.#startsWith('(?P=')) this.#backReference()
    else this.#take('(')
  }

  /** Applies flags such as `(?i)` to the whole pattern: JavaScript has them for a whole pattern only. */
  #inlineFlags(written: string, on: string, isGroup: boolean): void {
    for (const flag of on) {
      if (flag === 'x') this.#isExtended = true
      else if ('ims'.includes(flag)) this.#flags.add(flag)
    }
    this.#take(written, isGroup ? '(?:' : '')
  }

  #backReference(): void {
    const [written = '(', name] = /^\(\?P=([A-Za-z_]\w{0,40})\)/.exec(this.#rest(48)) ?? []
    this.#take(written, name === undefined ? written : `\\k<${name}>`)
  }

  /** Takes a quantifier. A possessive one becomes a greedy one. */
  #quantifier(character: string): void {
    this.#take(character)
    if (this.#startsWith('+')) this.#at += 1
    else if (this.#startsWith('?')) this.#take('?')
  }
}

/**
 * Translates a pattern of PCRE to the dialect of JavaScript. It knows flags inside of the pattern, `\A`,
 * `\z`, `\h`, `\Q…\E`, possessive quantifiers, atomic groups, named groups and classes of POSIX. Time
 * is linear. Throws an error for a pattern that is too long.
 */
export const translatePattern = (parsed: ParsedPattern): TranslatedPattern => {
  if (parsed.source.length > maxPatternLength)
    throw new Error(`the pattern has more than ${maxPatternLength} characters`)
  return new Translator(parsed).translate()
}

/** Evaluates an expression in a sandbox with limited time: `Sandbox.evaluate` of scripts. */
export type EvaluateExpression = (
  expression: string,
  variables: Readonly<Record<string, unknown>>,
) => Promise<unknown>

/**
 * Whether a text matches a pattern of PCRE. The pattern runs in a sandbox, so that it cannot occupy the
 * gateway. Only the first 32,768 characters of the text count. Rejects if the pattern is faulty or takes too
 * long.
 */
export const matchPattern = async (
  evaluate: EvaluateExpression,
  parsed: ParsedPattern,
  text: string,
): Promise<boolean> => {
  const { source, flags } = translatePattern(parsed)
  const params = { source, flags, text: text.slice(0, maxTextLength) }
  const variables = { call: {}, vars: {}, envs: {}, params }
  return (await evaluate('new RegExp(params.source, params.flags).test(params.text)', variables)) === true
}
