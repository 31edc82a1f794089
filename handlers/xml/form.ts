import { percentDecode, withX } from '../common/headers.ts'
import { withQuery } from '../common/urls.ts'
import type { DocumentRequest } from '../handler.ts'
import type { CallControl } from '../verbs.ts'

/** A URL and how it is asked. */
export interface Target {
  readonly url: string
  readonly method: 'GET' | 'POST'
}

/** Form fields of one request, in order. */
export type Fields = Readonly<Record<string, string>>

const callStatus = (call: CallControl): string => {
  if (call.signal.aborted) return 'completed'
  return call.answered ? 'in-progress' : 'ringing'
}

/**
 * The form fields that every document request carries. The `X-` headers of the INVITE come as `SipHeader_X-…`, percent-decoded once.
 * `parentCallSid`: the call that called this one.
 */
export const standardFields = (call: CallControl, parentCallSid?: string): Fields => {
  const { info } = call
  const outbound = parentCallSid === undefined ? 'outbound-api' : 'outbound-dial'
  return {
    CallSid: info.callId,
    AccountSid: info.projectId,
    ApiVersion: '2010-04-01',
    From: info.from,
    To: info.to,
    CallStatus: callStatus(call),
    Direction: info.direction === 'inbound' ? 'inbound' : outbound,
    ...(parentCallSid !== undefined && { ParentCallSid: parentCallSid }),
    Caller: info.from,
    Called: info.to,
    ...(info.fromName && { CallerName: info.fromName }),
    ...(info.type === 'sip' && { SipUser: info.toUser }),
    ...(info.sip && { SipDomain: info.sip.domain, SipCallId: info.sip.callId }),
    ...Object.fromEntries(
      info.headers.map(({ name, value }) => [`SipHeader_${withX(name)}`, percentDecode(value)]),
    ),
  }
}

/** The request with these fields: a form for POST, a query for GET. */
export const formRequest = ({ url, method }: Target, fields: Fields): DocumentRequest => {
  const form = new URLSearchParams(fields)
  if (method === 'GET') return { url: withQuery(url, form), method }
  return { url, method, body: { contentType: 'application/x-www-form-urlencoded', text: form.toString() } }
}

/** Whole seconds of milliseconds, as form fields have them. */
export const seconds = (ms: number): string => String(Math.round(ms / 1000))
