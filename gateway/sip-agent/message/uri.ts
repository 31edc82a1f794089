import { isIPv4, isIPv6 } from 'node:net'
import { SipParseError } from './error.ts'
import type { Params } from './text.ts'

/** A host and an optional port, as in a URI or a Via. IPv6 addresses are kept without brackets. */
export interface HostPort {
  readonly host: string
  readonly port?: number
}

/** A `sip:` or `sips:` URI, taken apart. Escapes are left as they are. */
export interface SipUri extends HostPort {
  readonly scheme: 'sip' | 'sips'
  /** The part before `@`, with its password if there is one. */
  readonly user?: string
  readonly params: Params
  /** What follows `?`. */
  readonly headers?: string
}

/** Any other URI: only its scheme is looked at. */
export interface OtherUri {
  readonly scheme: string
  readonly rest: string
}

const label = '[A-Za-z0-9_](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?'
// The top label starts with a letter (RFC 3261 25.1), which keeps "300.1.1.1" from passing as a name.
const namePattern = new RegExp(`^(?:${label}\\.)*[A-Za-z](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?\\.?$`)
// "#" is not allowed bare by the grammar, but carriers send it for star codes.
const userPattern = /^(?:[A-Za-z0-9\-_.!~*'()&=+$,;?/#:]|%[0-9A-Fa-f]{2})+$/
const paramPattern = /^(?:[A-Za-z0-9\-_.!~*'()[\]/:&+$]|%[0-9A-Fa-f]{2})+$/
const headersPattern = /^(?:[A-Za-z0-9\-_.!~*'()[\]/?:+$&=]|%[0-9A-Fa-f]{2})+$/

/** Tells whether `text` (without brackets) is an IPv6 address. RFC 5118 4.10: a third colon of old grammars is forgiven. */
const isAddress6 = (text: string) => !text.includes('%') && isIPv6(text.replace(':::', '::'))

/** Parses `host[:port]`; IPv6 must stand in brackets. Throws {@link SipParseError}. */
export const parseHostPort = (text: string, part: string): HostPort => {
  const bracketed = /^\[([0-9A-Fa-f:.]+)\](?:\s*:\s*([0-9]{1,5}))?$/.exec(text)
  const plain = bracketed ? null : /^([^:\s[\]]+)(?:\s*:\s*([0-9]{1,5}))?$/.exec(text)
  const match = bracketed ?? plain
  if (!match) throw new SipParseError(part, 'bad host or port')
  let host = match[1] as string
  if (bracketed) {
    if (!isAddress6(host)) throw new SipParseError(part, 'bad IPv6 address')
    host = host.replace(':::', '::')
  } else if (!isIPv4(host) && !namePattern.test(host)) throw new SipParseError(part, 'bad host')
  if (match[2] === undefined) return { host }
  const port = Number(match[2])
  if (port > 65_535) throw new SipParseError(part, 'bad port')
  return { host, port }
}

const parseUriParams = (text: string, part: string): Params => {
  const params: Params = new Map()
  for (const piece of text.split(';')) {
    const equals = piece.indexOf('=')
    const name = (equals < 0 ? piece : piece.slice(0, equals)).toLowerCase()
    const value = equals < 0 ? undefined : piece.slice(equals + 1)
    if (!paramPattern.test(name) || (value !== undefined && value !== '' && !paramPattern.test(value))) {
      throw new SipParseError(part, 'bad URI parameter')
    }
    // RFC 3261 19.1.1: no parameter may stand twice.
    if (params.has(name)) throw new SipParseError(part, `URI parameter "${name}" stands twice`)
    params.set(name, value)
  }
  return params
}

/** Parses a URI of any scheme, `sip:` and `sips:` in full. `part` names the header for the error. */
export const parseUri = (text: string, part = 'URI'): SipUri | OtherUri => {
  const colon = text.indexOf(':')
  const scheme = text.slice(0, Math.max(0, colon)).toLowerCase()
  if (!/^[a-z][a-z0-9+.-]*$/.test(scheme)) throw new SipParseError(part, 'expected a URI')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (/[\s<>"\u0000-\u001f\u007f]/.test(text)) throw new SipParseError(part, 'space or bracket within a URI')
  const rest = text.slice(colon + 1)
  if (scheme !== 'sip' && scheme !== 'sips') {
    if (rest === '') throw new SipParseError(part, 'empty URI')
    return { scheme, rest }
  }
  const at = rest.lastIndexOf('@')
  const user = at < 0 ? undefined : rest.slice(0, at)
  if (user !== undefined && !userPattern.test(user)) throw new SipParseError(part, 'bad user part')
  let tail = rest.slice(at + 1)
  const question = tail.indexOf('?')
  const headers = question < 0 ? undefined : tail.slice(question + 1)
  if (headers !== undefined && !headersPattern.test(headers)) throw new SipParseError(part, 'bad URI headers')
  if (question >= 0) tail = tail.slice(0, question)
  const semicolon = tail.indexOf(';')
  const params = semicolon < 0 ? new Map() : parseUriParams(tail.slice(semicolon + 1), part)
  const where = parseHostPort(semicolon < 0 ? tail : tail.slice(0, semicolon), part)
  return { scheme, user, host: where.host, port: where.port, params, headers }
}

/** Tells a SIP URI from others. */
export const isSipUri = (uri: SipUri | OtherUri): uri is SipUri =>
  uri.scheme === 'sip' || uri.scheme === 'sips'

/** Writes a host for a URI or Via: IPv6 gets its brackets. */
export const formatHost = (host: string): string => (host.includes(':') ? `[${host}]` : host)
