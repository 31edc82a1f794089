import { percentDecode, withX } from '../common/headers.ts'
import { withQuery } from '../common/urls.ts'
import type { DocumentRequest } from '../handler.ts'
import type { CallControl, CollectResult, ConnectResult, RecordResult } from '../verbs.ts'
import type { Next } from './program.ts'

/** Further form fields of one request. */
export type Fields = Readonly<Record<string, string>>

const callStatus = (call: CallControl): string => {
  if (call.signal.aborted) return 'completed'
  return call.answered ? 'in-progress' : 'ringing'
}

/**
 * The form fields that every document request carries. The `X-` headers of the INVITE come as `SipHeader_X-…`, percent-decoded once.
 */
const standardFields = (call: CallControl): Fields => {
  const { info } = call
  return {
    CallSid: info.callId,
    AccountSid: info.projectId,
    ApiVersion: '2010-04-01',
    From: info.from,
    To: info.to,
    CallStatus: callStatus(call),
    Direction: info.direction === 'inbound' ? 'inbound' : 'outbound-api',
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

/** The request for a document: a form for POST, a query for GET. */
export const documentRequest = (call: CallControl, next: Next, extra: Fields): DocumentRequest => {
  const form = new URLSearchParams({ ...standardFields(call), ...extra })
  if (next.method === 'GET') return { url: withQuery(next.url, form), method: 'GET' }
  const body = { contentType: 'application/x-www-form-urlencoded', text: form.toString() }
  return { url: next.url, method: 'POST', body }
}

const failed = {
  busy: 'busy',
  declined: 'busy',
  'no-answer': 'no-answer',
  unreachable: 'failed',
  canceled: 'canceled',
  error: 'failed',
} as const

/** What the action of a `Gather` is told of speech; no confidence where the recogniser has none. */
export const speechFields = ({ text, confidence }: NonNullable<CollectResult['speech']>): Fields => ({
  SpeechResult: text,
  ...(confidence !== undefined && { Confidence: String(Math.round(confidence * 1e4) / 1e4) }),
})

/** What the action of a `Record` is told. */
export const recordFields = ({ id, url, reason, terminator, durationMs, bytes }: RecordResult): Fields => ({
  RecordingSid: id,
  ...(bytes > 0 && { RecordingUrl: url }),
  RecordingDuration: String(Math.round(durationMs / 1000)),
  Digits: reason === 'hangup' ? 'hangup' : (terminator ?? ''),
})

/** What the action of a `Dial` is told. */
export const dialFields = (result: ConnectResult, sip: boolean): Fields => {
  if (result.kind === 'failed') {
    return {
      DialCallStatus: failed[result.reason],
      ...(sip && result.sipStatus !== undefined && { DialSipResponseCode: String(result.sipStatus) }),
    }
  }
  return {
    DialCallStatus: 'completed',
    DialCallSid: result.callee.callId,
    DialCallDuration: String(Math.round(result.durationMs / 1000)),
    ...(sip && { DialSipResponseCode: '200' }),
  }
}
