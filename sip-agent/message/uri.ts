import { isIPv6 } from 'node:net'
import { characterClasses, consistsOf, isAt, toLowerCase } from './characters.ts'
import { SipParseError } from './sip-parse-error.ts'
import { noParams, type Params, parseNumber } from './text.ts'

/** Host and optional port, as in a URI or a Via. IPv6 addresses have no brackets. */
export interface HostPort {
  readonly host: string
  readonly port?: number | undefined
}

/** Parsed `sip:` or `sips:` URI. Escapes are not decoded. */
export interface SipUri extends HostPort {
  readonly scheme: 'sip' | 'sips'
  /** Part before `@`, with its password. */
  readonly user?: string
  readonly params: Params
  /** Part after `?`. */
  readonly headers?: string
}

/** URI of another scheme; only the scheme is parsed. */
export interface OtherUri {
  readonly scheme: string
  readonly rest: string
}

/**
 * Returns whether a text without brackets is an IPv6 address. Accepts the third colon of old grammars (RFC
 * 5118 4.10).
 */
const isAddress6 = (text: string) => !text.includes('%') && isIPv6(text.replace(':::', '::'))

const dot = 46
const dash = 45
const bracket = 91

/** Returns whether a text is an IPv4 address: four decimals without leading zeros. */
const isAddress4 = (text: string): boolean => {
  let parts = 1
  let value = -1
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === dot) {
      if (value < 0) return false
      parts++
      value = -1
    } else {
      if (!isAt(text, i, characterClasses.digit) || value === 0) return false
      value = Math.max(0, value) * 10 + code - 48
      if (value > 255) return false
    }
  }
  return parts === 4 && value >= 0
}

/**
 * Returns whether a text is a host name. Its top label starts with a letter (RFC 3261 25.1), so that
 * "300.1.1.1" is not one.
 */
const isName = (text: string): boolean => {
  const end = text.charCodeAt(text.length - 1) === dot ? text.length - 1 : text.length
  let start = 0
  for (let i = 0; i < end; i++) {
    if (text.charCodeAt(i) === dot) {
      if (i === start || text.charCodeAt(i - 1) === dash) return false
      start = i + 1
    } else if (!isAt(text, i, characterClasses.label) || (i === start && text.charCodeAt(i) === dash))
      return false
  }
  return isAt(text, start, characterClasses.letter) && end > start && text.charCodeAt(end - 1) !== dash
}

const parsePort = (text: string, part: string): number => {
  if (text.length > 5) throw new SipParseError(part, 'bad host or port')
  return parseNumber(text, 65_535, part)
}

const parseBracketed = (text: string, part: string, blanks: boolean): HostPort => {
  const match = /^\[([0-9A-Fa-f:.]+)\](?:\s*:\s*([0-9]{1,5}))?$/.exec(text)
  if (!match || (!blanks && /\s/.test(text))) throw new SipParseError(part, 'bad host or port')
  const address = match[1] as string
  if (!isAddress6(address)) throw new SipParseError(part, 'bad IPv6 address')
  const host = address.replace(':::', '::')
  return { host, port: match[2] === undefined ? undefined : parsePort(match[2], part) }
}

/**
 * Parses `host[:port]`; IPv6 must stand in brackets. A Via may have white space around the colon (`blanks`),
 * a URI may not. Throws {@link SipParseError}.
 */
export const parseHostPort = (text: string, part: string, blanks = true): HostPort => {
  if (text.charCodeAt(0) === bracket) return parseBracketed(text, part, blanks)
  const colon = text.indexOf(':')
  const before = colon < 0 ? text : text.slice(0, colon)
  const host = blanks && colon >= 0 ? before.trimEnd() : before
  if (!isAddress4(host) && !isName(host)) throw new SipParseError(part, 'bad host')
  if (colon < 0) return { host, port: undefined }
  const port = text.slice(colon + 1)
  return { host, port: parsePort(blanks ? port.trimStart() : port, part) }
}

const parseUriParams = (text: string, part: string): Params => {
  const params = new Map<string, string | undefined>()
  for (let start = 0; start <= text.length; ) {
    const semicolon = text.indexOf(';', start)
    const end = semicolon < 0 ? text.length : semicolon
    const equals = text.indexOf('=', start)
    const flag = equals < 0 || equals > end
    const name = toLowerCase(text.slice(start, flag ? end : equals))
    const value = flag ? undefined : text.slice(equals + 1, end)
    if (
      !consistsOf(name, characterClasses.uriParam) ||
      (value && !consistsOf(value, characterClasses.uriParam))
    ) {
      throw new SipParseError(part, 'bad URI parameter')
    }
    // RFC 3261 19.1.1: a parameter must not occur twice.
    const { size } = params
    if (params.set(name, value).size === size)
      throw new SipParseError(part, `URI parameter "${name}" stands twice`)
    start = end + 1
  }
  return params
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const forbidden = /[\s<>"\u0000-\u001f\u007f]/

const parseOther = (scheme: string, text: string, part: string): OtherUri => {
  if (!/^[a-z][a-z0-9+.-]*$/.test(scheme)) throw new SipParseError(part, 'expected a URI')
  if (forbidden.test(text)) throw new SipParseError(part, 'space or bracket within a URI')
  const rest = text.slice(scheme.length + 1)
  if (rest === '') throw new SipParseError(part, 'empty URI')
  return { scheme, rest }
}

/** Parses a URI of any scheme, `sip:` and `sips:` in full. `part` names the header in the error. */
export const parseUri = (text: string, part = 'URI'): SipUri | OtherUri => {
  const colon = text.indexOf(':')
  const scheme = toLowerCase(text.slice(0, Math.max(0, colon)))
  if (scheme !== 'sip' && scheme !== 'sips') return parseOther(scheme, text, part)
  // A second one is allowed neither in the user part nor after it.
  const at = text.indexOf('@', colon)
  const user = at < 0 ? undefined : text.slice(colon + 1, at)
  if (user !== undefined && !consistsOf(user, characterClasses.user))
    throw new SipParseError(part, 'bad user part')
  const start = (at < 0 ? colon : at) + 1
  const question = text.indexOf('?', start)
  const headers = question < 0 ? undefined : text.slice(question + 1)
  if (headers !== undefined && !consistsOf(headers, characterClasses.uriHeaders)) {
    throw new SipParseError(part, 'bad URI headers')
  }
  const end = question < 0 ? text.length : question
  const semicolon = text.indexOf(';', start)
  const plain = semicolon < 0 || semicolon > end
  const params = plain ? noParams : parseUriParams(text.slice(semicolon + 1, end), part)
  const where = text.slice(start, plain ? end : semicolon)
  const { host, port } = parseHostPort(where, part, false)
  return { scheme, user, host, port, params, headers }
}

/** Returns whether a URI is a SIP URI. */
export const isSipUri = (uri: SipUri | OtherUri): uri is SipUri =>
  uri.scheme === 'sip' || uri.scheme === 'sips'

/** Returns a host in the form of a URI or Via: IPv6 in brackets. */
export const formatHost = (host: string): string => (host.includes(':') ? `[${host}]` : host)
