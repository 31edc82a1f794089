import { SipParseError } from './error.ts'
import { isToken, type Params, parseParams, splitOutside } from './text.ts'
import { type OtherUri, parseUri, type SipUri } from './uri.ts'

/** A From, To, Contact, Route or Record-Route value. */
export interface Address {
  /** As written, with its quotes. */
  readonly display: string
  /** The URI as text. */
  readonly uri: string
  readonly target: SipUri | OtherUri
  readonly params: Params
}

const quotedPattern = /^"(?:[^"\\]|\\.)*"$/

const parseDisplay = (text: string, part: string): string => {
  if (text === '' || quotedPattern.test(text)) return text
  for (const word of text.split(/\s+/)) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: anything beyond ASCII is tolerated in a display name
    if (!isToken(word.replace(/[^\u0000-\u007f]/g, 'x'))) throw new SipParseError(part, 'bad display name')
  }
  return text
}

/** Finds the `<` that opens the URI, beyond a quoted display name; -1 without one. */
const openBracket = (value: string): number => {
  let quoted = false
  for (let i = 0; i < value.length; i++) {
    const c = value[i]
    if (quoted && c === '\\') i++
    else if (c === '"') quoted = !quoted
    else if (c === '<' && !quoted) return i
  }
  return -1
}

/** Parses one name-addr or addr-spec with its parameters (RFC 3261 20.10, 20.20). Throws {@link SipParseError}. */
export const parseAddress = (value: string, part: string): Address => {
  const open = openBracket(value)
  if (open < 0) {
    const [uri = '', ...pieces] = splitOutside(value, ';', part)
    // RFC 3261 20: a URI with a comma, question mark or semicolon must stand in angle brackets.
    if (/[?,]/.test(uri)) throw new SipParseError(part, 'this URI must stand in angle brackets')
    return { display: '', uri, target: parseUri(uri, part), params: parseParams(pieces, part) }
  }
  const close = value.indexOf('>', open)
  if (close < 0) throw new SipParseError(part, 'an angle bracket is not closed')
  const uri = value.slice(open + 1, close).trim()
  const rest = value.slice(close + 1).trim()
  if (rest !== '' && rest[0] !== ';') throw new SipParseError(part, 'text after the angle bracket')
  const pieces = rest === '' ? [] : splitOutside(rest.slice(1), ';', part)
  return {
    display: parseDisplay(value.slice(0, open).trim(), part),
    uri,
    target: parseUri(uri, part),
    params: parseParams(pieces, part),
  }
}

/** Parses every value of a header that may stand several times or hold a comma-joined list. */
export const parseAddresses = (values: readonly string[], part: string): Address[] =>
  values.flatMap((value) => splitOutside(value, ',', part)).map((piece) => parseAddress(piece, part))

/** Writes an address with angle brackets, dropping its parameters but keeping the display name. */
export const bareAddress = (address: Address): string =>
  `${address.display === '' ? '' : `${address.display} `}<${address.uri}>`
