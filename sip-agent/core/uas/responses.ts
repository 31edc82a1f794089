import { Headers, headerName } from '../../message/headers.ts'
import type { SipRequest } from '../../message/message.ts'
import { reasonPhrase } from '../../message/methods.ts'
import { serialise } from '../../message/serialise.ts'
import { SipParseError } from '../../message/sip-parse-error.ts'
import { splitOutside } from '../../message/text.ts'
import { completeVia, parseVia, type Via } from '../../message/via.ts'
import type { Flow } from '../../transport/types.ts'
import type { AppHeader } from '../app-headers.ts'

const empty = Buffer.alloc(0)

/** Values that every response copies from its request (RFC 3261 8.2.6.2). */
export interface ResponseTemplate {
  readonly vias: readonly string[]
  readonly from: string
  /** To as received, with its tag if it has one. */
  readonly to: string
  readonly hasTag: boolean
  readonly callId: string
  readonly cseq: string
  readonly recordRoutes: readonly string[]
  readonly timestamp: string | undefined
}

/** Returns the values for responses to a request whose top Via is complete. */
export const responseTemplate = (request: SipRequest): ResponseTemplate => {
  const { headers } = request
  return {
    vias: headers.all('via'),
    from: headers.first('from') ?? '',
    to: headers.first('to') ?? '',
    hasTag: request.toTag !== '',
    callId: request.callId,
    cseq: `${request.seq} ${request.method}`,
    recordRoutes: headers.all('record-route'),
    timestamp: headers.first('timestamp'),
  }
}

/** Values of a response. */
export interface ResponseOptions {
  readonly status: number
  /** Reason phrase; default: the standard phrase of the status. */
  readonly reason?: string
  /** To tag of the agent; absent in a 100. */
  readonly tag?: string
  readonly headers?: readonly AppHeader[]
  readonly body?: Buffer
  /** Delay of a 100, in ms. */
  readonly delay?: number
}

/** Returns the request's Timestamp, with the delay of the response added in seconds (RFC 3261 8.2.6.1). */
const timestamp = (given: string, delay = 0): string =>
  delay > 0 && /^[0-9]+(?:\.[0-9]*)?$/.test(given) ? `${given} ${(delay / 1_000).toFixed(3)}` : given

/** Serialises a response. */
export const makeResponse = (base: ResponseTemplate, reply: ResponseOptions): Buffer => {
  const { status, tag, headers = [], body = empty } = reply
  const out = new Headers()
  for (const via of base.vias) out.append('Via', via)
  // RFC 3261 12.1.1: only responses that create a dialog need Record-Route. In other responses below 300 it
  // is harmless.
  if (status > 100 && status < 300) for (const route of base.recordRoutes) out.append('Record-Route', route)
  out.append('From', base.from)
  out.append('To', base.hasTag || !tag ? base.to : `${base.to};tag=${tag}`)
  out.append('Call-ID', base.callId)
  out.append('CSeq', base.cseq)
  if (status === 100 && base.timestamp !== undefined)
    out.append('Timestamp', timestamp(base.timestamp, reply.delay))
  for (const [name, value] of headers) out.append(name, value)
  return serialise(`SIP/2.0 ${status} ${reply.reason ?? reasonPhrase(status)}`, out, body)
}

/** Adds the actual source to the top Via. `top`: the top Via, if it was parsed before. */
export const markSource = (headers: Headers, flow: Flow, top?: Via): void => {
  const { address, port } = flow.remote
  const value = headers.first('via') ?? ''
  const [first = '', ...rest] = value.includes(',') ? splitOutside(value, ',', 'Via') : [value]
  const completed = completeVia(first, top ?? parseVia(first), address, port)
  headers.replace('Via', rest.length === 0 ? completed : [completed, ...rest].join(', '))
}

/** Headers copied into the response to a malformed request, if present. */
const copied = ['from', 'to', 'call-id', 'cseq']

/**
 * Returns the stateless response to a malformed request (RFC 3261 8.2, RFC 4475). Returns undefined if the
 * request cannot be identified, and for ACK, which never has a response.
 */
export const malformedRejection = (error: SipParseError, flow: Flow): Buffer | undefined => {
  const { request } = error
  if (!request || request.method === 'ACK') return undefined
  const { headers } = request
  if (headers.first('via') === undefined || headers.first('cseq') === undefined) return undefined
  try {
    markSource(headers, flow)
  } catch (bad) {
    // A malformed Via is returned unchanged.
    if (!(bad instanceof SipParseError)) throw bad
  }
  const out = new Headers()
  for (const via of headers.all('via')) out.append('Via', via)
  for (const key of copied) {
    const value = headers.first(key)
    // A malformed To value gets no tag.
    if (value !== undefined) out.append(headerName(key), value)
  }
  const reason = error.status === 400 ? `Bad ${error.part}` : reasonPhrase(error.status)
  return serialise(`SIP/2.0 ${error.status} ${reason}`, out, empty)
}
