import { apiVersion, type Fields, seconds, timestamp } from '../../common/forms.ts'
import type { CallControl, Callee, CalleeState, Destination } from '../../verbs.ts'
import { type Callback, readCallback, tell } from '../callbacks.ts'
import type { ElementReader } from '../element-reader.ts'
import type { Beside, Stage } from '../verb.ts'

type Progress = 'initiated' | 'ringing' | 'answered' | 'completed'

/** The attributes that {@link readCallee} reads. */
export const calleeAttributes = [
  'url',
  'method',
  'statusCallback',
  'statusCallbackMethod',
  'statusCallbackEvent',
] as const

/**
 * What the nouns have in common that call somebody: a document that is run on who answers, before the two are joined, and a callback that is
 * told how the call goes. Where that document cannot be had, nobody is joined.
 */
export const readCallee = (
  reader: ElementReader,
): ((stage: Stage, to: string) => Pick<Destination, 'confirm' | 'onState' | 'statusTo'>) => {
  const document = reader.target('url', 'method')
  const callback = readCallback<Progress>(
    reader,
    'statusCallback',
    ['initiated', 'ringing', 'answered', 'completed'],
    ['completed'],
  )
  return (stage, to) => {
    const progress = callback && progressOf(stage, to, callback)
    let known: Callee | undefined
    const confirm = document && ((leg: CallControl) => stage.aside(leg, document, besideOf(stage, known)))
    return {
      ...((confirm || progress) && {
        onState: (state) => {
          known = state.callee ?? known
          progress?.(state)
        },
      }),
      ...(callback && { statusTo: { url: callback.url, method: callback.method, states: callback.events } }),
      ...(confirm && { confirm: async (leg) => void (await confirm(leg)) }),
    }
  }
}

const besideOf = (stage: Stage, callee: Callee | undefined): Beside => ({
  fields: sipFields(callee),
  parentCallSid: stage.call.info.callId,
})

const progressOf = (
  stage: Stage,
  to: string,
  callback: Callback<Progress>,
): ((state: CalleeState) => void) => {
  let sequence = 0
  return (state) => {
    const event = state.kind === 'ended' ? 'completed' : state.kind
    if (!callback.events.includes(event)) return
    const { callId, projectId } = stage.call.info
    const ends = state.kind === 'ended' ? state.callee?.callId : undefined
    const fields = {
      AccountSid: projectId,
      ApiVersion: apiVersion,
      ...(state.callee && { CallSid: state.callee.callId }),
      CallStatus: statusOf(state),
      Direction: 'outbound-dial',
      ...(state.callee && { From: state.callee.from }),
      To: state.callee?.to ?? to,
      Timestamp: timestamp(stage.context.now()),
      SequenceNumber: String(sequence++),
      CallbackSource: 'call-progress-events',
      ...(state.kind === 'ended' && { CallDuration: seconds(state.durationMs) }),
      ParentCallSid: callId,
      ...(state.callee?.sip?.status !== undefined && { SipResultCode: String(state.callee.sip.status) }),
      ...sipFields(state.callee),
    }
    tell(stage.context, 'call-status', callback, fields, ends)
  }
}

/** What is known of a callee's SIP leg. */
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
