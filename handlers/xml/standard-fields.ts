import { apiVersion, type Fields } from '../common/forms.ts'
import { percentDecode, withXPrefix } from '../common/headers.ts'
import { type CallControl, CallRedirected, type UserVariables } from '../verbs.ts'

const callStatus = (call: CallControl): string => {
  const { aborted, reason } = call.signal
  if (aborted && !(reason instanceof CallRedirected)) return 'completed'
  return call.isAnswered ? 'in-progress' : 'ringing'
}

/** Variables of the calling browser, with a prefix so that none can replace another field. */
const variableFields = (variables: UserVariables = {}): Fields =>
  Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [
      `UserVariable_${name}`,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  )

/**
 * Form fields of every document request. The `X-` headers of the INVITE become `SipHeader_X-…`,
 * percent-decoded once. `parentCallSid` is the id of the call that called this one.
 */
export const standardFields = (call: CallControl, parentCallSid?: string): Fields => {
  const { info } = call
  const outbound = parentCallSid === undefined ? 'outbound-api' : 'outbound-dial'
  return {
    CallSid: info.callId,
    AccountSid: info.projectId,
    ApiVersion: apiVersion,
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
    ...(info.answeredBy && { AnsweredBy: info.answeredBy }),
    ...variableFields(info.userVariables),
    ...Object.fromEntries(
      info.headers.map(({ name, value }) => [`SipHeader_${withXPrefix(name)}`, percentDecode(value)]),
    ),
  }
}
