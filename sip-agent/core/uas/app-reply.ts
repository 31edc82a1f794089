import type { RawResponse } from '../../message/message.ts'
import { targetRefreshMethods } from '../../message/methods.ts'
import { withoutFault } from '../../message/sip-parse-error.ts'
import { readHeaderParams } from '../../message/text.ts'
import { type AppHeader, appHeaders, contentType, forbidden, hasHeader, ownContact } from '../app-headers.ts'
import type { Context } from '../context.ts'
import { optionTags } from '../options.ts'
import { ownAddressFor } from '../requests.ts'
import type { PendingRequest } from './pending-requests.ts'
import { makeResponse } from './responses.ts'

const replyHeaders = new Set([...forbidden, 'from', 'to', 'call-id', 'cseq', 'content-type'])

/** Response of the application in the form in which it is sent, with its To tag. */
export interface AppReply {
  readonly bytes: Buffer
  readonly tag: string
}

/**
 * Serialises a response of the application; undefined if one of its headers is malformed. `rseq`: number of a
 * reliable provisional response.
 */
export const makeAppReply = (
  context: Context,
  waiting: PendingRequest,
  raw: RawResponse,
  rseq: number | undefined,
): AppReply | undefined => {
  const type = contentType(raw)
  if (type === undefined) return undefined
  return withoutFault(() => {
    const { status, reason, body } = raw
    const headers = replyHeadersOf(context, waiting, raw, type)
    if (rseq !== undefined) headers.push(...reliableHeaders(raw, rseq))
    const tag = tagOf(waiting, raw)
    const written = { status, reason, tag: status > 100 ? tag : undefined, headers, body }
    return { bytes: makeResponse(waiting.base, written), tag }
  })
}

/** Returns the To tag. The application may choose it with its first response. */
const tagOf = (waiting: PendingRequest, raw: RawResponse): string => {
  if (waiting.hasResponse || waiting.base.hasTag) return waiting.tag
  const tag = readHeaderParams(raw.headers.first('to') ?? '').get('tag') ?? ''
  return /^[^,|"<>\s]+$/.test(tag) ? tag : waiting.tag
}

const reliableHeaders = (raw: RawResponse, rseq: number): AppHeader[] => {
  const number: AppHeader = ['RSeq', String(rseq)]
  return optionTags(raw.headers, 'require').has('100rel') ? [number] : [['Require', '100rel'], number]
}

const replyHeadersOf = (
  context: Context,
  waiting: PendingRequest,
  raw: RawResponse,
  type: string,
): AppHeader[] => {
  const own = ownAddressFor(waiting.side.flow, context)
  const headers = appHeaders(raw.headers, own, replyHeaders)
  const { method } = waiting.request
  // RFC 6665 4.1.3: the response to a NOTIFY needs no Contact.
  const target =
    raw.status > 100 && raw.status < 300 && targetRefreshMethods.has(method) && method !== 'NOTIFY'
  if (target && !hasHeader(headers, 'Contact')) {
    headers.unshift(['Contact', waiting.dialog?.localContact || ownContact(own)])
  }
  if (type !== '') headers.push(['Content-Type', type])
  const { userAgent } = context
  const named = hasHeader(headers, 'Server') || hasHeader(headers, 'User-Agent')
  if (userAgent && !named) headers.push(['Server', userAgent])
  return headers
}
