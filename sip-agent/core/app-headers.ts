import { type Headers, headerKey, headerName } from '../message/headers.ts'
import type { RawMessage } from '../message/message.ts'
import { parseNameAddr, parseNameAddrs } from '../message/name-addr.ts'
import { SipParseError } from '../message/sip-parse-error.ts'
import { splitOutside } from '../message/text.ts'
import { formatHost } from '../message/uri.ts'
import { reachKey } from '../reach/far-end.ts'
import type { Protocol } from '../transport/types.ts'
import { offenseHeader, unverifiedHeader } from '../types.ts'

/** The agent's own address as the peer should see it. */
export interface OwnAddress {
  readonly host: string
  readonly port: number
  readonly protocol: Protocol
}

/** `<sip:host:port>`, with the transport where it is not UDP. */
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
 * The rule of drachtio for an application that does not know its address: `localhost` in From, To, Contact and
 * P-Asserted-Identity stands for the agent's own host and port. `key` is the lower-case header name.
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

/** Checks what the application wrote in the headers that shape a dialog. Throws {@link SipParseError}. */
const check = (key: string, name: string, value: string) => {
  if (key === 'from' || key === 'to') parseNameAddr(value, name)
  else if (key === 'contact' && value !== '*') parseNameAddrs([value], name)
  if (/[\r\n]/.test(value)) throw new SipParseError(name, 'line break in the value')
}

/**
 * Separates the challenges of one value. Several challenges are several fields (RFC 3261 7.3.1), but drachtio-srf joins fields of one name
 * with commas. A piece behind a comma outside quotes that begins with a scheme is a challenge of its own.
 */
const separate = (key: string, value: string): string[] => {
  if (key !== 'www-authenticate' && key !== 'proxy-authenticate') return [value]
  const challenges: string[] = []
  for (const piece of splitOutside(value, ',', key))
    if (challenges.length === 0 || /^Digest\s/i.test(piece)) challenges.push(piece)
    else challenges.push(`${challenges.pop()}, ${piece}`)
  return challenges
}

/** One header of the application, ready to be sent. */
export type AppHeader = readonly [name: string, value: string]

/** The key of {@link offenseHeader}, which no message on the network has. */
export const offenseKey = headerKey(offenseHeader)
/** The key of {@link unverifiedHeader}, which no message on the network has. */
export const unverifiedKey = headerKey(unverifiedHeader)

/** Keys of the headers that stay between the agent and its applications. */
export const privateKeys: ReadonlySet<string> = new Set([offenseKey, unverifiedKey, reachKey])

/** The application's headers, spelled as usual and with `localhost` replaced, without those in `except` (lower case). */
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

/** The headers that an application may never set itself. */
export const forbidden: ReadonlySet<string> = new Set([
  'via',
  'route',
  'rseq',
  'record-route',
  'content-length',
])

/**
 * The Content-Type that a body needs: the application's own, `application/sdp` for what looks like SDP, undefined where
 * it is missing, and empty where there is no body.
 */
export const contentType = (message: RawMessage): string | undefined => {
  if (message.body.length === 0) return ''
  const given = message.headers.first('content-type')
  if (given !== undefined) return given
  return message.body.toString('latin1', 0, 3) === 'v=0' ? 'application/sdp' : undefined
}

/** True where one of these headers has the key of `name`. */
export const hasHeader = (list: readonly AppHeader[], name: string): boolean =>
  list.some(([each]) => headerKey(each) === headerKey(name))
