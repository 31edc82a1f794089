import { trim } from './characters.ts'
import { SipParseError } from './sip-parse-error.ts'
import { isToken, noParams, type Params, parseParams, splitOutside } from './text.ts'
import { type OtherUri, parseUri, type SipUri } from './uri.ts'

/** From, To, Contact, Route or Record-Route value (RFC 3261 20.10). */
export interface NameAddr {
  /** Display name as written, with its quotes. */
  readonly display: string
  /** The URI as text. */
  readonly uri: string
  readonly target: SipUri | OtherUri
  readonly params: Params
}

const quotedPattern = /^"(?:[^"\\]|\\.)*"$/

const parseDisplay = (text: string, part: string): string => {
  if (text === '' || isToken(text) || quotedPattern.test(text)) return text
  for (const word of text.split(/\s+/)) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: display names may have characters beyond ASCII
    if (!isToken(word.replace(/[^\u0000-\u007f]/g, 'x'))) throw new SipParseError(part, 'bad display name')
  }
  return text
}

/** Returns the offset of the `<` before the URI, after a quoted display name; -1 without one. */
const openBracket = (value: string): number => {
  const first = value.indexOf('<')
  const quote = value.indexOf('"')
  if (quote < 0 || first < quote) return first
  let quoted = false
  for (let i = quote; i < value.length; i++) {
    const code = value.charCodeAt(i)
    if (quoted && code === 92) i++
    else if (code === 34) quoted = !quoted
    else if (code === 60 && !quoted) return i
  }
  return -1
}

/**
 * Parses one name-addr or addr-spec with its parameters (RFC 3261 20.10, 20.20). Throws {@link
 * SipParseError}.
 */
export const parseNameAddr = (value: string, part: string): NameAddr => {
  const open = openBracket(value)
  if (open < 0) {
    const [uri = '', ...pieces] = splitOutside(value, ';', part)
    // RFC 3261 20: a URI with a comma, question mark or semicolon must stand in angle brackets.
    if (/[?,]/.test(uri)) throw new SipParseError(part, 'this URI must stand in angle brackets')
    return { display: '', uri, target: parseUri(uri, part), params: parseParams(pieces, part) }
  }
  const close = value.indexOf('>', open)
  if (close < 0) throw new SipParseError(part, 'an angle bracket is not closed')
  const uri = trim(value, open + 1, close)
  const rest = trim(value, close + 1)
  if (rest !== '' && rest[0] !== ';') throw new SipParseError(part, 'text after the angle bracket')
  return {
    display: parseDisplay(trim(value, 0, open), part),
    uri,
    target: parseUri(uri, part),
    params: rest === '' ? noParams : parseParams(splitOutside(rest.slice(1), ';', part), part),
  }
}

/** Parses every value of a header that may occur several times or hold a comma-separated list. */
export const parseNameAddrs = (values: readonly string[], part: string): NameAddr[] => {
  const addresses: NameAddr[] = []
  for (const value of values) {
    // Most values hold one address.
    if (!value.includes(',')) addresses.push(parseNameAddr(trim(value), part))
    else for (const piece of splitOutside(value, ',', part)) addresses.push(parseNameAddr(piece, part))
  }
  return addresses
}

/** Returns a name-addr in angle brackets, with its display name and without its parameters. */
export const bareNameAddr = (address: NameAddr): string =>
  `${address.display === '' ? '' : `${address.display} `}<${address.uri}>`
