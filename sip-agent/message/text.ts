import { characterClasses, consistsOf, toLowerCase, trim } from './characters.ts'
import { SipParseError, withoutFault } from './sip-parse-error.ts'

/** Returns whether a text is a `token` of RFC 3261 25.1. */
export const isToken = (text: string): boolean => consistsOf(text, characterClasses.token)

/** Splits a value without quotes and brackets. */
const splitPlain = (value: string, separator: string): string[] => {
  const pieces: string[] = []
  let start = 0
  for (;;) {
    const end = value.indexOf(separator, start)
    if (end < 0) break
    pieces.push(trim(value, start, end))
    start = end + 1
  }
  pieces.push(trim(value, start))
  return pieces
}

const quote = 34
const backslash = 92
const less = 60
const greater = 62

/**
 * Splits a header value at each `separator` outside quoted strings and angle brackets, and trims the pieces.
 * Throws {@link SipParseError} if a quote or bracket is not closed.
 */
export const splitOutside = (value: string, separator: ',' | ';', part: string): string[] => {
  if (!value.includes('"') && !value.includes('<')) return splitPlain(value, separator)
  const pieces: string[] = []
  const wanted = separator.charCodeAt(0)
  let start = 0
  let quoted = false
  let bracketed = false
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i)
    if (quoted) {
      if (code === backslash) i++
      else if (code === quote) quoted = false
    } else if (bracketed) bracketed = code !== greater
    else if (code === quote) quoted = true
    else if (code === less) bracketed = true
    else if (code === wanted) {
      pieces.push(trim(value, start, i))
      start = i + 1
    }
  }
  if (quoted) throw new SipParseError(part, 'a quoted string is not closed')
  if (bracketed) throw new SipParseError(part, 'an angle bracket is not closed')
  pieces.push(trim(value, start))
  return pieces
}

/** Parameters of a header value or URI: name in lower case to raw value; `undefined` for a flag. */
export type Params = ReadonlyMap<string, string | undefined>

/** Empty parameters. */
export const noParams: Params = new Map()

const valuePattern = /^(?:"(?:[^"\\]|\\.)*"|[^\s"<>]+)$/

/**
 * Returns whether a text is a `gen-value`: a quoted string, or characters except white space, quotes and
 * angle brackets.
 */
const isValue = (text: string): boolean => {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    const plain = code > 32 && code < 127 && code !== quote && code !== less && code !== greater
    if (!plain) return valuePattern.test(text)
  }
  return text !== ''
}

/**
 * Parses the `;name=value` pieces of a header (RFC 3261 `generic-param`). Empty or repeated names are faults.
 */
export const parseParams = (pieces: readonly string[], part: string): Params => {
  const params = new Map<string, string | undefined>()
  for (const piece of pieces) {
    const equals = piece.indexOf('=')
    const name = toLowerCase(trim(piece, 0, equals < 0 ? piece.length : equals))
    if (!isToken(name)) throw new SipParseError(part, `bad parameter "${piece.slice(0, 40)}"`)
    const value = equals < 0 ? undefined : trim(piece, equals + 1)
    if (value !== undefined && !isValue(value))
      throw new SipParseError(part, `bad value of parameter "${name}"`)
    const { size } = params
    if (params.set(name, value).size === size)
      throw new SipParseError(part, `parameter "${name}" stands twice`)
  }
  return params
}

/**
 * Reads the parameters of a header value, which follow its first `;` outside quotes and angle brackets. They
 * need not follow the grammar. Names are in lower case; if a name is repeated, the last one counts. Returns
 * no parameters if a quote or an angle bracket is not closed.
 */
export const readHeaderParams = (value: string): Params => {
  const params = new Map<string, string | undefined>()
  const pieces = withoutFault(() => splitOutside(value, ';', 'header')) ?? []
  for (const piece of pieces.slice(1)) {
    const equals = piece.indexOf('=')
    const name = trim(piece, 0, equals < 0 ? piece.length : equals)
    params.set(toLowerCase(name), equals < 0 ? undefined : trim(piece, equals + 1))
  }
  return params
}

/**
 * Returns whether a text has a control character or a Unicode line separator. Such text never becomes part of
 * a message.
 */
export const hasControls = (text: string): boolean => /[\p{Cc}\u2028\u2029]/u.test(text)

/**
 * Parses an unsigned decimal of at most `max`. Throws {@link SipParseError} for any other text; `part` names
 * the header.
 */
export const parseNumber = (text: string, max: number, part: string): number => {
  if (text.length > 16 || !consistsOf(text, characterClasses.digit))
    throw new SipParseError(part, 'expected a number')
  let value = 0
  for (let i = 0; i < text.length; i++) value = value * 10 + text.charCodeAt(i) - 48
  if (value > max) throw new SipParseError(part, `expected at most ${max}`)
  return value
}

/**
 * Returns a copy of a text. A text cut out of a message keeps the whole message in memory, so values that
 * outlive the message must be copied.
 */
export const detachedCopy = (text: string): string => (text === '' ? '' : Buffer.from(text).toString())
