import { SipParseError } from './error.ts'

/** A `token` of RFC 3261 25.1. */
export const tokenPattern = /^[A-Za-z0-9\-.!%*_+`'~]+$/

/** Tells whether `text` is a `token` of RFC 3261 25.1. */
export const isToken = (text: string): boolean => tokenPattern.test(text)

/**
 * Splits a header value at `separator` where it stands outside quoted strings and angle brackets.
 * Pieces are trimmed. Throws {@link SipParseError} where a quote or bracket is left open.
 */
export const splitOutside = (value: string, separator: ',' | ';', part: string): string[] => {
  if (!value.includes(separator) && !value.includes('"') && !value.includes('<')) return [value.trim()]
  const pieces: string[] = []
  let start = 0
  let quoted = false
  let bracketed = false
  for (let i = 0; i < value.length; i++) {
    const c = value[i]
    if (quoted) {
      if (c === '\\') i++
      else if (c === '"') quoted = false
    } else if (c === '"') quoted = true
    else if (c === '<' && !bracketed) bracketed = true
    else if (c === '>' && bracketed) bracketed = false
    else if (c === separator && !bracketed) {
      pieces.push(value.slice(start, i).trim())
      start = i + 1
    }
  }
  if (quoted) throw new SipParseError(part, 'a quoted string is not closed')
  if (bracketed) throw new SipParseError(part, 'an angle bracket is not closed')
  pieces.push(value.slice(start).trim())
  return pieces
}

/** The parameters of a header value or URI: lower-case name to raw value; `undefined` for a flag. */
export type Params = Map<string, string | undefined>

const valuePattern = /^(?:"(?:[^"\\]|\\.)*"|\[[0-9A-Fa-f:.]+\]|[^\s"<>]+)$/

/** Parses the `;name=value` pieces of a header (RFC 3261 `generic-param`). Empty or repeated ones are faults. */
export const parseParams = (pieces: readonly string[], part: string): Params => {
  const params: Params = new Map()
  for (const piece of pieces) {
    const equals = piece.indexOf('=')
    const name = (equals < 0 ? piece : piece.slice(0, equals)).trim().toLowerCase()
    if (!isToken(name)) throw new SipParseError(part, `bad parameter "${piece.slice(0, 40)}"`)
    if (params.has(name)) throw new SipParseError(part, `parameter "${name}" stands twice`)
    const value = equals < 0 ? undefined : piece.slice(equals + 1).trim()
    if (value !== undefined && !valuePattern.test(value)) {
      throw new SipParseError(part, `bad value of parameter "${name}"`)
    }
    params.set(name, value)
  }
  return params
}

/** Parses an unsigned decimal of at most `max`; anything else is a fault of `part`. */
export const parseNumber = (text: string, max: number, part: string): number => {
  if (!/^[0-9]{1,16}$/.test(text)) throw new SipParseError(part, 'expected a number')
  const value = Number(text)
  if (value > max) throw new SipParseError(part, `expected at most ${max}`)
  return value
}
