import { parseAddress, parseAddresses } from './address.ts'
import { SipParseError } from './error.ts'
import type { Headers } from './headers.ts'
import type { Essentials, RawMessage, SipMessage, SipRequest, SipResponse } from './message.ts'
import { blame } from './parse.ts'
import { isToken, parseNumber, splitOutside } from './text.ts'
import { parseUri } from './uri.ts'
import { parseVia } from './via.ts'

const single = ['From', 'To', 'Call-ID', 'CSeq', 'Max-Forwards', 'Content-Type', 'Expires'] as const

const one = (headers: Headers, name: string): string => {
  const value = headers.first(name.toLowerCase())
  if (value === undefined || value === '') throw new SipParseError(name, 'missing')
  return value
}

const checkSingle = (headers: Headers) => {
  const seen = new Set<string>()
  for (const { key } of headers.list()) {
    if (!seen.has(key)) seen.add(key)
    else {
      const name = single.find((each) => each.toLowerCase() === key)
      if (name) throw new SipParseError(name, 'stands twice')
    }
  }
}

const parseCSeq = (value: string) => {
  const match = /^([0-9]+)\s+(\S+)$/.exec(value)
  if (!match || !isToken(match[2] as string)) throw new SipParseError('CSeq', 'expected <number> <method>')
  // RFC 3261 8.1.1.5: less than 2**31.
  return { seq: parseNumber(match[1] as string, 2 ** 31 - 1, 'CSeq'), seqMethod: match[2] as string }
}

/**
 * Call-ID and tags stand in fields of the application protocol, which `|` separates. RFC 3261 allows neither it nor spaces
 * in them; other characters beyond the grammar are seen in the wild and do no harm.
 */
const checkIdentifier = (value: string, part: string) => {
  if (/[\s|]/.test(value)) throw new SipParseError(part, 'a character that is not allowed in an identifier')
}

const checkVias = (headers: Headers) => {
  const values = headers.all('via').flatMap((value) => splitOutside(value, ',', 'Via'))
  if (values.length === 0) throw new SipParseError('Via', 'missing')
  const vias = values.map(parseVia)
  return { via: vias[0] as (typeof vias)[0], vias: vias.length }
}

const essentials = (headers: Headers): Essentials => {
  checkSingle(headers)
  const { via, vias } = checkVias(headers)
  const from = parseAddress(one(headers, 'From'), 'From')
  const to = parseAddress(one(headers, 'To'), 'To')
  const callId = one(headers, 'Call-ID')
  checkIdentifier(callId, 'Call-ID')
  const fromTag = from.params.get('tag') ?? ''
  const toTag = to.params.get('tag') ?? ''
  checkIdentifier(fromTag, 'From')
  checkIdentifier(toTag, 'To')
  return {
    via,
    vias,
    from,
    to,
    fromTag,
    toTag,
    callId,
    ...parseCSeq(one(headers, 'CSeq')),
  }
}

const checkCommon = (headers: Headers) => {
  const contacts = headers.all('contact')
  if (!(contacts.length === 1 && contacts[0] === '*')) parseAddresses(contacts, 'Contact')
  parseAddresses(headers.all('record-route'), 'Record-Route')
  const type = headers.first('content-type')
  if (type !== undefined && !/^[^\s/;,]+\s*\/\s*[^\s/;,]+\s*(?:;.*)?$/.test(type)) {
    throw new SipParseError('Content-Type', 'expected <type>/<subtype>')
  }
}

const checkRequest = (message: RawMessage & { kind: 'request' }): SipRequest => {
  const { headers } = message
  const request = { ...message, ...essentials(headers) }
  if (request.seqMethod !== request.method) throw new SipParseError('CSeq', 'another method than the request')
  const hops = headers.first('max-forwards')
  if (hops !== undefined) parseNumber(hops, 255, 'Max-Forwards')
  checkCommon(headers)
  parseAddresses(headers.all('route'), 'Route')
  const uri = parseUri(message.uri, 'Request-URI')
  // RFC 3261 19.1.5: a request-uri has no headers.
  if ('headers' in uri && uri.headers !== undefined) throw new SipParseError('Request-URI', 'holds headers')
  return request
}

/** Checks the structure of the headers that an agent must understand. Throws {@link SipParseError}. */
export const checkMessage = (message: RawMessage): SipMessage => {
  try {
    if (message.kind === 'request') return checkRequest(message)
    const response: SipResponse = { ...message, ...essentials(message.headers) }
    checkCommon(message.headers)
    return response
  } catch (error) {
    throw blame(message, error)
  }
}
