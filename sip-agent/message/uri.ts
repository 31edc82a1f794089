import { isIPv6 } from 'node:net'
import { characterClasses, consistsOf, isAt, toLowerCase } from './characters.ts'
import { SipParseError, withoutFault } from './sip-parse-error.ts'
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
 * Place in which a host stands. In a `via` there may be white space around the colon. In a `loose` URI the
 * host may be anything that looks like a name or number.
 */
type HostForm = 'via' | 'uri' | 'loose'

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
 * Returns whether a text is a host name. Its top label starts with a letter (RFC 3261 25.1), so "300.1.1.1"
 * is not a host name.
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

const parseBracketed = (text: string, part: string, form: HostForm): HostPort => {
  const match = /^\[([0-9A-Fa-f:.]+)\](?:\s*:\s*([0-9]{1,5}))?$/.exec(text)
  if (!match || (form !== 'via' && /\s/.test(text))) throw new SipParseError(part, 'bad host or port')
  const address = match[1] as string
  // Some senders follow an old grammar and write a third colon (RFC 5118 4.10).
  const host = form === 'loose' ? address : address.replace(':::', '::')
  if (!isIPv6(host)) throw new SipParseError(part, 'bad IPv6 address')
  return { host, port: match[2] === undefined ? undefined : parsePort(match[2], part) }
}

const isLooseHost = (text: string): boolean => /^\w(?:[\w.-]{0,252}[A-Za-z0-9])?\.?$/.test(text)

/** Parses `host[:port]`; IPv6 must stand in brackets. Throws {@link SipParseError}. */
export const parseHostPort = (text: string, part: string, form: HostForm = 'via'): HostPort => {
  if (text.charCodeAt(0) === bracket) return parseBracketed(text, part, form)
  const colon = text.indexOf(':')
  const before = colon < 0 ? text : text.slice(0, colon)
  const host = form === 'via' && colon >= 0 ? before.trimEnd() : before
  const isHost = form === 'loose' ? isLooseHost(host) : isAddress4(host) || isName(host)
  if (!isHost) throw new SipParseError(part, 'bad host')
  if (colon < 0) return { host, port: undefined }
  const port = text.slice(colon + 1)
  return { host, port: parsePort(form === 'via' ? port.trimStart() : port, part) }
}

const parseUriParams = (text: string, part: string, isLoose: boolean): Params => {
  const params = new Map<string, string | undefined>()
  for (let start = 0; start <= text.length; ) {
    const semicolon = text.indexOf(';', start)
    const end = semicolon < 0 ? text.length : semicolon
    const equals = text.indexOf('=', start)
    const flag = equals < 0 || equals > end
    const name = toLowerCase(text.slice(start, flag ? end : equals))
    const value = flag ? undefined : text.slice(equals + 1, end)
    const isParam = isLoose
      ? end > start
      : consistsOf(name, characterClasses.uriParam) &&
        (!value || consistsOf(value, characterClasses.uriParam))
    if (!isParam) throw new SipParseError(part, 'bad URI parameter')
    // RFC 3261 19.1.1: a parameter must not occur twice.
    const { size } = params
    if (params.set(name, value).size === size && !isLoose)
      throw new SipParseError(part, `URI parameter "${name}" stands twice`)
    start = end + 1
  }
  return params
}

/** Characters that could end a URI, or the header field around it. */
const unsafe = /[\s<>"\p{Cc}]/u

const parseOther = (scheme: string, text: string, part: string): OtherUri => {
  if (!/^[a-z][a-z0-9+.-]*$/.test(scheme)) throw new SipParseError(part, 'expected a URI')
  if (unsafe.test(text)) throw new SipParseError(part, 'space or bracket within a URI')
  const rest = text.slice(scheme.length + 1)
  if (rest === '') throw new SipParseError(part, 'empty URI')
  return { scheme, rest }
}

/** Returns the scheme of a URI in lower case; empty without a colon. */
const schemeOf = (text: string): string => toLowerCase(text.slice(0, Math.max(0, text.indexOf(':'))))

/** Parses a URI of any scheme, `sip:` and `sips:` in full. `part` names the header in the error. */
export const parseUri = (text: string, part = 'URI'): SipUri | OtherUri => {
  const scheme = schemeOf(text)
  return scheme === 'sip' || scheme === 'sips'
    ? parseSip(scheme, text, part, false)
    : parseOther(scheme, text, part)
}

/**
 * Reads a SIP URI that need not follow the grammar, of a header that an agent need not understand, a
 * configuration or an application. Its parts may have any characters except white space, control characters,
 * quotes, angle brackets and `@`. If a parameter is repeated, the last one counts. Returns undefined for any
 * other text.
 */
export const readSipUri = (text: string): SipUri | undefined => {
  const scheme = schemeOf(text)
  if ((scheme !== 'sip' && scheme !== 'sips') || unsafe.test(text)) return undefined
  if (text.indexOf('@') !== text.lastIndexOf('@')) return undefined
  return withoutFault(() => parseSip(scheme, text, 'URI', true))
}

const parseSip = (scheme: 'sip' | 'sips', text: string, part: string, isLoose: boolean): SipUri => {
  const colon = scheme.length
  // A second `@` is allowed neither in the user part nor after it.
  const at = text.indexOf('@', colon)
  const user = at < 0 ? undefined : text.slice(colon + 1, at)
  if (user !== undefined && !(isLoose ? user !== '' : consistsOf(user, characterClasses.user)))
    throw new SipParseError(part, 'bad user part')
  const start = (at < 0 ? colon : at) + 1
  const question = text.indexOf('?', start)
  const headers = question < 0 ? undefined : text.slice(question + 1)
  if (headers !== undefined && !isLoose && !consistsOf(headers, characterClasses.uriHeaders)) {
    throw new SipParseError(part, 'bad URI headers')
  }
  const end = question < 0 ? text.length : question
  const semicolon = text.indexOf(';', start)
  const plain = semicolon < 0 || semicolon > end
  const params = plain ? noParams : parseUriParams(text.slice(semicolon + 1, end), part, isLoose)
  const where = text.slice(start, plain ? end : semicolon)
  const { host, port } = parseHostPort(where, part, isLoose ? 'loose' : 'uri')
  return { scheme, user, host, port, params, headers }
}

/** Returns whether a URI is a SIP URI. */
export const isSipUri = (uri: SipUri | OtherUri): uri is SipUri =>
  uri.scheme === 'sip' || uri.scheme === 'sips'

/** Returns a host in the form of a URI or Via: IPv6 in brackets. */
export const formatHost = (host: string): string => (host.includes(':') ? `[${host}]` : host)
