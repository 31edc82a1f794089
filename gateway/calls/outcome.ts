import type { ConnectResult } from '../../handlers/verbs.ts'
import { type Cause, type Code, sipStatusOf } from '../errors.ts'
import type { Call } from './call.ts'
import type { Leg } from './leg.ts'

const reasons: Partial<Record<Code, Extract<ConnectResult, { kind: 'failed' }>['reason']>> = {
  busy: 'busy',
  declined: 'declined',
  no_answer: 'no-answer',
  not_online: 'no-answer',
  unreachable: 'unreachable',
  unknown_address: 'unreachable',
  control_lost: 'unreachable',
}

/** What a document is told of a hunt in which nobody could be had. */
export const failure = (cause: Cause): ConnectResult => ({
  kind: 'failed',
  reason: reasons[cause.code] ?? 'error',
  sipStatus: sipStatusOf(cause),
  code: cause.code,
})

/** What a document is told of two who talked; `callee` is whom the caller talked to last. */
export const connected = ({ caller, id }: Call, callee: Leg, durationMs: number): ConnectResult => {
  const byLimit = callee.state.kind === 'ended' && callee.state.cause.code === 'max_duration'
  return {
    kind: 'connected',
    endedBy: caller.isEnded ? 'caller' : byLimit ? 'limit' : 'callee',
    durationMs,
    calleeCallId: `${id}/${callee.id}`,
  }
}
