import { characterClasses, isAt, trim } from './characters.ts'
import type { Headers } from './headers.ts'
import type { Essentials, RawMessage, RawRequest, SipMessage, SipRequest } from './message.ts'
import { parseNameAddr, parseNameAddrs } from './name-addr.ts'
import { attachRequest } from './parse.ts'
import { SipParseError } from './sip-parse-error.ts'
import { isToken, parseNumber, splitOutside } from './text.ts'
import { parseUri } from './uri.ts'
import { parseVia, type Via } from './via.ts'

/** Headers that may occur only once; key to name. */
const single: ReadonlyMap<string, string> = new Map(
  ['From', 'To', 'Call-ID', 'CSeq', 'Max-Forwards', 'Content-Type', 'Expires'].map((name) => [
    name.toLowerCase(),
    name,
  ]),
)

const one = (headers: Headers, key: string): string => {
  const value = headers.first(key)
  const name = single.get(key) ?? key
  if (value === undefined || value === '') throw new SipParseError(name, 'missing')
  return value
}

const checkSingle = (headers: Headers) => {
  for (const [key, name] of single) {
    if (headers.count(key) > 1) throw new SipParseError(name, 'stands twice')
  }
}

const parseCSeq = (value: string) => {
  let end = 0
  while (isAt(value, end, characterClasses.digit)) end++
  const method = trim(value, end)
  // The lengths are equal if no text but white space stands between number and method.
  if (end === 0 || end + method.length === value.length || !isToken(method)) {
    throw new SipParseError('CSeq', 'expected <number> <method>')
  }
  // RFC 3261 8.1.1.5: less than 2**31.
  return { seq: parseNumber(value.slice(0, end), 2 ** 31 - 1, 'CSeq'), seqMethod: method }
}

/**
 * Checks a Call-ID or a tag. They are fields of the application protocol, which `|` separates. RFC 3261
 * allows neither `|` nor spaces in them. Other characters beyond the grammar occur in practice and are
 * harmless.
 */
const checkIdentifier = (value: string, part: string) => {
  if (!isToken(value) && /[\s|]/.test(value))
    throw new SipParseError(part, 'a character that is not allowed in an identifier')
}

const checkVias = (headers: Headers) => {
  let first: Via | undefined
  let count = 0
  for (const { key, value } of headers.list()) {
    if (key !== 'via') continue
    for (const each of value.includes(',') ? splitOutside(value, ',', 'Via') : [value]) {
      const via = parseVia(each)
      first ??= via
      count++
    }
  }
  if (!first) throw new SipParseError('Via', 'missing')
  return { via: first, vias: count }
}

const essentials = (headers: Headers): Essentials => {
  checkSingle(headers)
  const { via, vias } = checkVias(headers)
  const from = parseNameAddr(one(headers, 'from'), 'From')
  const to = parseNameAddr(one(headers, 'to'), 'To')
  const callId = one(headers, 'call-id')
  checkIdentifier(callId, 'Call-ID')
  const fromTag = from.params.get('tag') ?? ''
  const toTag = to.params.get('tag') ?? ''
  checkIdentifier(fromTag, 'From')
  checkIdentifier(toTag, 'To')
  const { seq, seqMethod } = parseCSeq(one(headers, 'cseq'))
  return { via, vias, from, to, fromTag, toTag, callId, seq, seqMethod }
}

const checkContacts = (headers: Headers) => {
  const contacts = headers.all('contact')
  if (!(contacts.length === 1 && contacts[0] === '*')) parseNameAddrs(contacts, 'Contact')
}

/** Drops malformed Contacts of a response, because a response cannot be rejected. */
const dropBadContacts = (headers: Headers) => {
  try {
    checkContacts(headers)
  } catch (error) {
    if (!(error instanceof SipParseError)) throw error
    headers.remove('contact')
  }
}

const checkCommon = (headers: Headers) => {
  parseNameAddrs(headers.all('record-route'), 'Record-Route')
  const type = headers.first('content-type')
  if (
    type !== undefined &&
    type !== 'application/sdp' &&
    !/^[^\s/;,]+\s*\/\s*[^\s/;,]+\s*(?:;.*)?$/.test(type)
  ) {
    throw new SipParseError('Content-Type', 'expected <type>/<subtype>')
  }
}

const checkRequest = (raw: RawRequest): SipRequest => {
  const { method, headers } = raw
  const parsed = essentials(headers)
  if (parsed.seqMethod !== method) throw new SipParseError('CSeq', 'another method than the request')
  const hops = headers.first('max-forwards')
  if (hops !== undefined) parseNumber(hops, 255, 'Max-Forwards')
  checkContacts(headers)
  checkCommon(headers)
  parseNameAddrs(headers.all('route'), 'Route')
  const uri = parseUri(raw.uri, 'Request-URI')
  // RFC 3261 19.1.5: a request-URI has no headers.
  if ('headers' in uri && uri.headers !== undefined) throw new SipParseError('Request-URI', 'holds headers')
  return Object.assign(parsed, raw)
}

/** Checks the structure of the headers that an agent must understand. Throws {@link SipParseError}. */
export const checkMessage = (message: RawMessage): SipMessage => {
  try {
    if (message.kind === 'request') return checkRequest(message)
    const parsed = essentials(message.headers)
    dropBadContacts(message.headers)
    checkCommon(message.headers)
    return Object.assign(parsed, message)
  } catch (error) {
    throw attachRequest(message, error)
  }
}
