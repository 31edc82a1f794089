import { trim } from './characters.ts'
import { SipParseError, withoutFault } from './sip-parse-error.ts'
import {
  hasControls,
  isToken,
  noParams,
  type Params,
  parseParams,
  readHeaderParams,
  splitOutside,
} from './text.ts'
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

/** A name-addr or addr-spec, split into its parts. */
interface SplitNameAddr {
  readonly display: string
  /** May have white space around it within angle brackets. */
  readonly uri: string
  readonly isBracketed: boolean
  /** From the first `;`, or empty. */
  readonly params: string
}

const splitNameAddr = (value: string, part: string): SplitNameAddr => {
  const open = openBracket(value)
  if (open < 0) {
    const end = value.indexOf(';')
    if (end < 0) return { display: '', uri: trim(value), isBracketed: false, params: '' }
    return { display: '', uri: trim(value, 0, end), isBracketed: false, params: trim(value, end) }
  }
  const close = value.indexOf('>', open)
  if (close < 0) throw new SipParseError(part, 'an angle bracket is not closed')
  const params = trim(value, close + 1)
  if (params !== '' && params[0] !== ';') throw new SipParseError(part, 'text after the angle bracket')
  return { display: trim(value, 0, open), uri: value.slice(open + 1, close), isBracketed: true, params }
}

/**
 * Parses one name-addr or addr-spec with its parameters (RFC 3261 20.10, 20.20). Throws {@link
 * SipParseError}.
 */
export const parseNameAddr = (value: string, part: string): NameAddr => {
  const { display, uri: written, isBracketed, params } = splitNameAddr(value, part)
  const uri = trim(written)
  // RFC 3261 20: a URI with a comma, question mark or semicolon must stand in angle brackets.
  if (!isBracketed && /[?,]/.test(uri)) throw new SipParseError(part, 'this URI must stand in angle brackets')
  return {
    display: parseDisplay(display, part),
    uri,
    target: parseUri(uri, part),
    params: params === '' ? noParams : parseParams(splitOutside(params.slice(1), ';', part), part),
  }
}

/** Value of a header that an agent need not understand, such as Refer-To or P-Asserted-Identity. */
export interface LooseNameAddr {
  /** Display name without quotes and escapes; default empty. */
  readonly name: string
  /** The URI as text, not checked. */
  readonly uri: string
  /** Parameters of the header; see {@link readHeaderParams}. */
  readonly params: Params
}

/** Maximum length of a name-addr that is read loosely, in characters. */
const maxLooseLength = 2_048

/**
 * Reads one name-addr or addr-spec whose URI and parameters need not follow the grammar. Returns undefined
 * unless the value is exactly one, without control characters and of at most 2,048 characters.
 */
export const readNameAddr = (value: string): LooseNameAddr | undefined => {
  if (value.length > maxLooseLength || hasControls(value)) return undefined
  const parts = withoutFault(() => splitNameAddr(value.trim(), 'address'))
  if (!parts || parts.params.includes(',')) return undefined
  const { display, uri, isBracketed } = parts
  if ((isBracketed ? /^$|[<>\s]/ : /^$|[\s<>",]/).test(uri)) return undefined
  const isQuoted = quotedPattern.test(display)
  if (!isQuoted && /[<>"@,;:]/.test(display)) return undefined
  return {
    name: isQuoted ? display.slice(1, -1).replace(/\\(.)/g, '$1') : display,
    uri,
    params: readHeaderParams(parts.params),
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
