import { offenseHeader, unverifiedHeader } from '../drachtio/extensions.ts'
import { type Headers, headerKey, headerName } from '../message/headers.ts'
import type { RawMessage } from '../message/message.ts'
import { parseNameAddr, parseNameAddrs } from '../message/name-addr.ts'
import { SipParseError } from '../message/sip-parse-error.ts'
import { splitOutside } from '../message/text.ts'
import { formatHost } from '../message/uri.ts'
import { reachKey } from '../reach/far-end.ts'
import type { Protocol } from '../transport/types.ts'

/** Address of the agent as a peer should see it. */
export interface OwnAddress {
  readonly host: string
  readonly port: number
  readonly protocol: Protocol
}

/** Returns `<sip:host:port>`, with the transport unless it is UDP. */
export const ownContact = (own: OwnAddress): string =>
  `<sip:${formatHost(own.host)}:${own.port}${own.protocol === 'udp' ? '' : `;transport=${own.protocol}`}>`

const rewritten = new Set(['from', 'to', 'contact', 'p-asserted-identity'])

/** Wraps a bare addr-spec in angle brackets. */
const bracket = (value: string): string => {
  if (value.includes('<')) return value
  const end = value.indexOf(';')
  return end < 0 ? `<${value}>` : `<${value.slice(0, end)}>${value.slice(end)}`
}

/**
 * Replaces `localhost` in From, To, Contact and P-Asserted-Identity by the agent's own host and port. This is
 * drachtio's rule for an application that does not know its address. `key` is the lower-case header name.
 */
export const replaceLocalhost = (key: string, value: string, own: OwnAddress): string => {
  if (!rewritten.has(key) || value === '*') return value
  const pattern =
    key === 'from' ? /(@|sips?:)localhost(?::\d+)?(?=[;>?\s]|$)/i : /(@)localhost(?::\d+)?(?=[;>?\s]|$)/i
  const bracketed = bracket(value)
  if (!pattern.test(bracketed)) return bracketed
  const replaced = bracketed.replace(pattern, `$1${formatHost(own.host)}:${own.port}`)
  if (key !== 'contact' || own.protocol === 'udp' || /;transport=/i.test(replaced)) return replaced
  return replaced.replace('>', `;transport=${own.protocol}>`)
}

/** Checks an application's value of a header that shapes a dialog. Throws {@link SipParseError}. */
const check = (key: string, name: string, value: string) => {
  if (key === 'from' || key === 'to') parseNameAddr(value, name)
  else if (key === 'contact' && value !== '*') parseNameAddrs([value], name)
  if (/[\r\n]/.test(value)) throw new SipParseError(name, 'line break in the value')
}

/**
 * Splits a value into its challenges. Several challenges are several fields (RFC 3261 7.3.1), but
 * drachtio-srf joins fields of one name with commas. A piece after a comma outside quotes that begins with a
 * scheme is a separate challenge.
 */
const separate = (key: string, value: string): string[] => {
  if (key !== 'www-authenticate' && key !== 'proxy-authenticate') return [value]
  const challenges: string[] = []
  for (const piece of splitOutside(value, ',', key))
    if (challenges.length === 0 || /^Digest\s/i.test(piece)) challenges.push(piece)
    else challenges.push(`${challenges.pop()}, ${piece}`)
  return challenges
}

/** Header of the application in the form in which it is sent. */
export type AppHeader = readonly [name: string, value: string]

/** Key of {@link offenseHeader}, which no message on the network has. */
export const offenseKey = headerKey(offenseHeader)
/** Key of {@link unverifiedHeader}, which no message on the network has. */
export const unverifiedKey = headerKey(unverifiedHeader)

/** Keys of the headers that are private to the agent and its applications. */
export const privateKeys: ReadonlySet<string> = new Set([offenseKey, unverifiedKey, reachKey])

/**
 * Returns the application's headers with standard spelling and `localhost` replaced, without those in
 * `except` (lower case).
 */
export const appHeaders = (headers: Headers, own: OwnAddress, except: ReadonlySet<string>): AppHeader[] => {
  const out: AppHeader[] = []
  for (const header of headers.list()) {
    if (except.has(header.key) || privateKeys.has(header.key)) continue
    const name = headerName(header.name)
    const value = replaceLocalhost(header.key, header.value, own)
    check(header.key, name, value)
    for (const each of separate(header.key, value)) out.push([name, each])
  }
  return out
}

/** Headers that an application must not set. */
export const forbidden: ReadonlySet<string> = new Set([
  'via',
  'route',
  'rseq',
  'record-route',
  'content-length',
])

/**
 * Returns the Content-Type for a body: the application's own, or `application/sdp` for a body that looks like
 * SDP. Returns undefined if it is missing, and an empty text if there is no body.
 */
export const contentType = (message: RawMessage): string | undefined => {
  if (message.body.length === 0) return ''
  const given = message.headers.first('content-type')
  if (given !== undefined) return given
  return message.body.toString('latin1', 0, 3) === 'v=0' ? 'application/sdp' : undefined
}

/** Returns whether the list has a header of this name. */
export const hasHeader = (list: readonly AppHeader[], name: string): boolean =>
  list.some(([each]) => headerKey(each) === headerKey(name))
