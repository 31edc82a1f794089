import { randomUUID } from 'node:crypto'
import type { Header } from '../../message/headers.ts'
import type { RawRequest } from '../../message/message.ts'
import { dialogCreatingMethods } from '../../message/methods.ts'
import { parseNameAddr } from '../../message/name-addr.ts'
import { startLine } from '../../message/serialise.ts'
import { withoutFault } from '../../message/sip-parse-error.ts'
import { parseUri } from '../../message/uri.ts'
import type { Flow } from '../../transport/types.ts'
import {
  type AppHeader,
  appHeaders,
  forbidden,
  hasHeader,
  type OwnAddress,
  ownContact,
  replaceLocalhost,
} from '../app-headers.ts'
import { type Context, newBranch, newTag } from '../context.ts'
import { type MadeRequest, makeRequest, ownAddressFor } from '../requests.ts'
import type { FlowOrHop } from './flow-or-hop.ts'
import type { PreparedRequest } from './request-failover.ts'

/** Headers that the agent always writes itself. */
export const dialogHeaders: ReadonlySet<string> = new Set([
  ...forbidden,
  'from',
  'to',
  'call-id',
  'cseq',
  'content-type',
])

/** Returns the Content-Type header of a body; empty without a body. */
export const typeHeader = (type: string): AppHeader[] => (type === '' ? [] : [['Content-Type', type]])

/** Returns the agent's User-Agent header unless the application sets one. */
export const agentHeader = (raw: RawRequest, { userAgent }: Context): AppHeader[] =>
  userAgent && raw.headers.first('user-agent') === undefined ? [['User-Agent', userAgent]] : []

/** Request outside dialogs, with the From tag that identifies it. */
export interface NewRequest extends PreparedRequest {
  /** From tag; known after the first call of `make`. */
  readonly tag: string
}

/**
 * Prepares a request outside dialogs and fills in missing headers. `make` throws `SipParseError` for
 * malformed headers.
 */
export const prepareNew = (
  context: Context,
  raw: RawRequest,
  type: string,
  ways: readonly FlowOrHop[],
): NewRequest => {
  const callId = raw.headers.first('call-id') ?? randomUUID()
  const seq = givenSeq(raw) ?? Math.floor(context.clock.now() / 2_000) % 2 ** 27
  // Only Via and Contact depend on the flow: on failover to another flow, From and To stay the same (RFC 3263
  // 4.3).
  let identity: { from: string; to: string; tag: string } | undefined
  const make = (flow: Flow): MadeRequest => {
    const own = ownAddressFor(flow, context)
    identity ??= identityOf(raw, own)
    const headers = appHeaders(raw.headers, own, dialogHeaders)
    if (dialogCreatingMethods.has(raw.method) && !hasHeader(headers, 'Contact'))
      headers.unshift(['Contact', ownContact(own)])
    headers.push(...typeHeader(type), ...agentHeader(raw, context))
    return makeRequest({
      method: raw.method,
      uri: raw.uri,
      branch: newBranch(),
      routes: [],
      from: identity.from,
      to: identity.to,
      callId,
      seq,
      own,
      headers,
      body: raw.body,
    })
  }
  return {
    ways,
    make,
    get tag() {
      return identity?.tag ?? ''
    },
  }
}

/**
 * Returns From and To of a new request, as set by the application. Default: the agent's contact in From, and
 * the request-URI in To.
 */
const identityOf = (raw: RawRequest, own: OwnAddress): { from: string; to: string; tag: string } => {
  const value = (key: Header['key'], fallback: string) =>
    replaceLocalhost(key, raw.headers.first(key) ?? fallback, own)
  const from = value('from', ownContact({ ...own, protocol: 'udp' }))
  const given = parseNameAddr(from, 'From').params.get('tag')
  const to = value('to', `<${raw.uri}>`)
  parseNameAddr(to, 'To')
  if (given) return { from, to, tag: given }
  const tag = newTag()
  return { from: `${from};tag=${tag}`, to, tag }
}

/**
 * Returns the number in the application's CSeq header; applications set it to repeat a challenged request.
 */
const givenSeq = (raw: RawRequest): number | undefined => {
  const match = /^\s*([0-9]{1,10})(?:\s|$)/.exec(raw.headers.first('cseq') ?? '')
  const value = match ? Number(match[1]) : undefined
  return value !== undefined && value < 2 ** 31 ? value : undefined
}

/** Returns whether a text is a URI, with or without angle brackets. */
export const isUri = (text: string): boolean =>
  withoutFault(() => parseUri(text.replace(/^<|>$/g, ''))) !== undefined

/** Returns the error text for a malformed request-URI. */
export const invalidUri = (raw: RawRequest): string => `invalid request-uri: ${startLine(raw)}`
