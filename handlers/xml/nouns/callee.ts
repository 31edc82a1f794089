import { apiVersion, type Fields, seconds, timestamp } from '../../common/forms.ts'
import type { CallControl, Callee, CalleeState, Destination } from '../../verbs.ts'
import { type Callback, readCallback, sendCallback } from '../callbacks.ts'
import type { ElementReader } from '../element-reader.ts'
import type { SideDocument, VerbContext } from '../verb.ts'

type Progress = 'initiated' | 'ringing' | 'answered' | 'completed'

/** Attributes that {@link readCallee} reads. */
export const calleeAttributes = [
  'url',
  'method',
  'statusCallback',
  'statusCallbackMethod',
  'statusCallbackEvent',
] as const

/**
 * Reads the common attributes of nouns that call a destination: the document that runs on the callee before
 * the bridge, and the status callback. If the document cannot be fetched, the callee is not bridged.
 */
export const readCallee = (
  reader: ElementReader,
): ((context: VerbContext, to: string) => Pick<Destination, 'confirm' | 'onState' | 'statusTarget'>) => {
  const document = reader.target('url', 'method')
  const callback = readCallback<Progress>(
    reader,
    'statusCallback',
    ['initiated', 'ringing', 'answered', 'completed'],
    ['completed'],
  )
  return (context, to) => {
    const progress = callback && progressOf(context, to, callback)
    let callee: Callee | undefined
    const confirm =
      document &&
      ((leg: CallControl) => context.runSideDocument(leg, document, sideDocumentOf(context, callee)))
    return {
      ...((confirm || progress) && {
        onState: (state) => {
          callee = state.callee ?? callee
          progress?.(state)
        },
      }),
      ...(callback && {
        statusTarget: { url: callback.url, method: callback.method, states: callback.events },
      }),
      ...(confirm && { confirm: async (leg) => void (await confirm(leg)) }),
    }
  }
}

const sideDocumentOf = (context: VerbContext, callee: Callee | undefined): SideDocument => ({
  fields: sipFields(callee),
  parentCallSid: context.call.info.callId,
})

const progressOf = (
  context: VerbContext,
  to: string,
  callback: Callback<Progress>,
): ((state: CalleeState) => void) => {
  let sequence = 0
  return (state) => {
    const event = state.kind === 'ended' ? 'completed' : state.kind
    if (!callback.events.includes(event)) return
    const { callId, projectId } = context.call.info
    const ends = state.kind === 'ended' ? state.callee?.callId : undefined
    const fields = {
      AccountSid: projectId,
      ApiVersion: apiVersion,
      ...(state.callee && { CallSid: state.callee.callId }),
      CallStatus: statusOf(state),
      Direction: 'outbound-dial',
      ...(state.callee && { From: state.callee.from }),
      To: state.callee?.to ?? to,
      Timestamp: timestamp(context.handler.now()),
      SequenceNumber: String(sequence++),
      CallbackSource: 'call-progress-events',
      ...(state.kind === 'ended' && { CallDuration: seconds(state.durationMs) }),
      ParentCallSid: callId,
      ...(state.callee?.sip?.status !== undefined && { SipResultCode: String(state.callee.sip.status) }),
      ...sipFields(state.callee),
    }
    sendCallback(context.handler, 'call-status', callback, fields, ends)
  }
}

/** Form fields of a callee's SIP leg. */
const sipFields = (callee: Callee | undefined): Fields => {
  if (!callee?.sip) return {}
  const { callId, headers } = callee.sip
  return {
    SipCallId: callId,
    ...Object.fromEntries(headers.map(({ name, value }) => [`SipHeader_${name}`, value])),
  }
}

const outcomes = {
  completed: 'completed',
  busy: 'busy',
  declined: 'busy',
  'no-answer': 'no-answer',
  canceled: 'canceled',
  failed: 'failed',
} as const

const statusOf = (state: CalleeState): string => {
  if (state.kind === 'ended') return outcomes[state.outcome]
  return state.kind === 'answered' ? 'in-progress' : state.kind
}
