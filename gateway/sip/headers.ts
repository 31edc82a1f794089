import { offenseHeader, reachHeader, unverifiedHeader } from '@trunkline/sip-agent'
import { hasControls, readHeaderParams, splitOutside, withoutFault } from '@trunkline/sip-agent/message'
import { type Cause, catalogue, q850Of } from '../core/errors/catalogue.ts'
import { parseSipUri } from '../core/sip-uri.ts'
import type { Party } from '../model.ts'
import type { Headers } from './srf.ts'

/** Maximum number of headers that an application may add to one INVITE. */
const maxHeaders = 64
const maxValueLength = 1_024

/**
 * Headers that belong to the dialog, the routing, the body or the credentials. An application must not set
 * them.
 */
const reserved = new Set([
  'via',
  'from',
  'to',
  'contact',
  'call-id',
  'cseq',
  'max-forwards',
  'route',
  'record-route',
  'path',
  'service-route',
  'content-length',
  'content-type',
  'content-encoding',
  'content-disposition',
  'authorization',
  'proxy-authorization',
  'www-authenticate',
  'proxy-authenticate',
  'require',
  'proxy-require',
  'supported',
  'unsupported',
  'allow',
  'accept',
  'rack',
  'rseq',
  'session-expires',
  'min-se',
  'replaces',
  'refer-to',
  'event',
  'subscription-state',
  'user-agent',
  'mime-version',
  'timestamp',
  'expires',
  'reason',
  // Private headers between the gateway and the embedded agent.
  ...[offenseHeader, reachHeader, unverifiedHeader].map((name) => name.toLowerCase()),
])

/** Header that is not sent, with the reason. */
export interface RefusedHeader {
  readonly name: string
  readonly why: string
}

/** Splits the headers that an application has set into headers that are sent and headers that are dropped. */
export const applicationHeaders = (
  wanted: readonly { readonly name: string; readonly value: string }[],
): { readonly headers: Headers; readonly refused: readonly RefusedHeader[] } => {
  const headers: Headers = {}
  const refused: RefusedHeader[] = []
  for (const { name, value } of wanted) {
    const why = objection(name, value) ?? (Object.keys(headers).length >= maxHeaders ? 'too many' : undefined)
    if (why) {
      refused.push({ name: printable(name, 64), why })
      continue
    }
    const same = Object.keys(headers).find((other) => other.toLowerCase() === name.toLowerCase())
    headers[same ?? name] = same ? `${headers[same]}, ${value}` : value
  }
  return { headers, refused }
}

const objection = (name: string, value: string): string | undefined => {
  // A token (RFC 3261 section 25.1). A single letter is the short form of a standard header.
  if (!/^[A-Za-z0-9\-.!%*_+`'~]{2,64}$/.test(name)) return 'not a header name'
  if (reserved.has(name.toLowerCase())) return 'reserved'
  if (hasControls(value)) return 'a control character in the value'
  if (value.length > maxValueLength) return `longer than ${maxValueLength} characters`
  return undefined
}

/** The `X-…` headers of the far side's message: the first 64, cut and printable. */
export const extensionHeaders = (headers: Readonly<Headers>): { name: string; value: string }[] =>
  Object.entries(headers)
    .filter(([name]) => /^x-/i.test(name))
    .slice(0, maxHeaders)
    .map(([name, value]) => ({ name: printable(name, 64), value: printable(String(value), maxValueLength) }))

/** Returns the headers except those that describe a body. */
export const withoutBody = (headers: Headers): Headers =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !/^content-/i.test(name)))

/**
 * Returns a From value: the given SIP URI, else the user at the gateway's address. The agent replaces
 * `localhost` by that address. An empty user becomes `anonymous`.
 */
export const fromHeader = (party: Pick<Party, 'user' | 'name'>, uri?: string): string => {
  const given = uri === undefined ? undefined : parseSipUri(uri)
  const address = given ? given.bare : `sip:${escapedUser(party.user) || 'anonymous'}@localhost`
  return `${quotedName(party.name)}<${address}>`
}

/** Returns a display name as written before an address, with a space after it; empty if the name is empty. */
export const quotedName = (name: string): string => {
  const text = name
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim()
    .slice(0, 128)
    .replace(/[\\"]/g, '\\$&')
  return text === '' ? '' : `"${text}" `
}

/** The user part of a URI: everything outside RFC 3261's unreserved and user-unreserved is escaped. */
export const escapedUser = (user: string): string =>
  // The text is cut first; if that splits a character, its remaining half is removed, as it cannot be
  // encoded.
  encodeURIComponent(user.slice(0, 128).replace(/[\p{Cc}\p{Cs}]/gu, '')).replace(
    /%(24|26|2B|2C|2F|3B|3D|3F)/g,
    (code) => decodeURIComponent(code),
  )

/**
 * Returns the Reason value of a BYE, CANCEL or rejection, which is a Q.850 cause (RFC 3326). A text is added
 * only if the Q.850 value is the value of the code in the catalogue.
 */
export const reasonHeader = (cause: Cause): string => {
  if (cause.code === 'answered_elsewhere') return 'SIP;cause=200;text="Call completed elsewhere"'
  const { q850, cause: text } = catalogue[cause.code]
  const found = q850Of(cause)
  return found === q850 ? `Q.850;cause=${q850};text="${text}"` : `Q.850;cause=${found}`
}

/** Returns the Q.850 cause of a Reason value; undefined if it has none. */
export const q850In = (reason = ''): number | undefined => {
  const values = reason
    .slice(0, maxValueLength)
    .replace(/"(?:[^"\\]|\\.)*"?/g, '')
    .split(',')
  const found = values.find((value) => /^\s*Q\.850\s*;/i.test(value))
  const text = readHeaderParams(found ?? '').get('cause') ?? ''
  const cause = /^\d{1,3}$/.test(text) ? Number(text) : 0
  return cause >= 1 && cause <= 127 ? cause : undefined
}

/** Returns text of the peer for a log line or a warning: one line, printable, cut. */
export const printable = (text: string, maxLength = 128): string =>
  text.slice(0, maxLength).replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '?')

/** Maximum length of a list that is read, in characters. */
const maxListLength = 8_192

/**
 * Returns the entries of a comma-separated list, trimmed. Commas within quotes and angle brackets count as
 * text. Returns none if a quote or a bracket is not closed, or if the list is longer than 8,192 characters.
 * Empty entries are left out.
 */
export const splitList = (value: string): readonly string[] => {
  const entries = value.length > maxListLength ? [] : withoutFault(() => splitOutside(value, ',', 'list'))
  return (entries ?? []).filter((entry) => entry !== '')
}
