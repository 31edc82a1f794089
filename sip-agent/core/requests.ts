import { Headers } from '../message/headers.ts'
import type { SipResponse } from '../message/message.ts'
import { serialise, serialiseMessage } from '../message/serialise.ts'
import { readHeaderParams } from '../message/text.ts'
import { formatHost } from '../message/uri.ts'
import type { Flow } from '../transport/types.ts'
import type { AppHeader, OwnAddress } from './app-headers.ts'
import type { Context } from './context.ts'
import { ownMark } from './loops.ts'

const empty = Buffer.alloc(0)

/** Request that the agent created, with the values that its CANCEL, its ACK and a local response need. */
export interface MadeRequest {
  readonly method: string
  readonly uri: string
  readonly branch: string
  readonly via: string
  readonly routes: readonly string[]
  readonly from: string
  readonly to: string
  readonly callId: string
  readonly seq: number
  /** Value of the Contact header; empty without this header. */
  readonly contact: string
  readonly bytes: Buffer
}

/** Values from which a request is built. */
export interface RequestOptions extends Omit<MadeRequest, 'bytes' | 'via' | 'contact'> {
  readonly own: OwnAddress
  readonly headers: readonly AppHeader[]
  readonly body?: Buffer
}

/** Returns the agent's Via. Over UDP it has `rport`, so that responses go to the source port (RFC 3581). */
export const makeVia = (own: OwnAddress, branch: string): string => {
  const rport = own.protocol === 'udp' ? ';rport' : ''
  return `SIP/2.0/${own.protocol.toUpperCase()} ${formatHost(own.host)}:${own.port};branch=${branch}${rport}`
}

/** Builds a request. */
export const makeRequest = (parts: RequestOptions): MadeRequest => {
  const { method, uri, routes, from, to, callId, seq, own, headers, body = empty } = parts
  const branch = parts.branch + ownMark
  const via = makeVia(own, branch)
  const out = new Headers().append('Via', via)
  for (const route of routes) out.append('Route', route)
  if (!headers.some(([name]) => name === 'Max-Forwards')) out.append('Max-Forwards', '70')
  out.append('From', from).append('To', to).append('Call-ID', callId).append('CSeq', `${seq} ${method}`)
  for (const [name, value] of headers) out.append(name, value)
  const bytes = serialise(`${method} ${uri} SIP/2.0`, out, body)
  const contact = out.first('contact') ?? ''
  return { method, uri, branch, via, routes, from, to, callId, seq, contact, bytes }
}

const follow = (made: MadeRequest, method: string, to: string, headers: readonly AppHeader[]): Buffer => {
  const out = new Headers().append('Via', made.via)
  for (const route of made.routes) out.append('Route', route)
  out.append('Max-Forwards', '70').append('From', made.from).append('To', to)
  out.append('Call-ID', made.callId).append('CSeq', `${made.seq} ${method}`)
  for (const [name, value] of headers) out.append(name, value)
  return serialise(`${method} ${made.uri} SIP/2.0`, out, empty)
}

/** Builds the CANCEL of a request, with the same branch, From, To and CSeq number (RFC 3261 9.1). */
export const makeCancel = (made: MadeRequest, headers: readonly AppHeader[]): Buffer =>
  follow(made, 'CANCEL', made.to, headers)

/** Builds the ACK to a final response other than 2xx (RFC 3261 17.1.1.3), with the To of the response. */
export const makeFailureAck = (made: MadeRequest, response: SipResponse): Buffer =>
  follow(made, 'ACK', response.headers.first('to') ?? made.to, [])

/**
 * Builds a final response to a request that got no final response from the network. `problem`: the reason, if
 * known.
 */
export const makeLocalResponse = (
  made: MadeRequest,
  status: number,
  reason: string,
  tag: string,
  problem?: string,
): Buffer => {
  const headers = new Headers().append('Via', made.via).append('From', made.from)
  headers.append('To', readHeaderParams(made.to).has('tag') ? made.to : `${made.to};tag=${tag}`)
  headers.append('Call-ID', made.callId).append('CSeq', `${made.seq} ${made.method}`)
  // RFC 3261 20.43: text for a human reader, such as the reason for a failed TLS handshake.
  if (problem) headers.append('Warning', `399 localhost "${quotable(problem)}"`)
  return serialiseMessage({ kind: 'response', status, reason, headers, body: empty })
}

/**
 * Replaces characters that a quoted string must not contain. The text may have names from a certificate,
 * which the far end chose.
 */
const quotable = (text: string): string => text.slice(0, 500).replace(/[\p{Cc}"\\]/gu, "'")

/** Returns the address of the agent as the peer of `flow` should see it. */
export const ownAddressFor = (flow: Flow, context: Context): OwnAddress => ({
  host: context.transports.ownHost(flow.local, flow.remote.address || undefined),
  port: flow.local.port,
  protocol: flow.local.protocol,
})
