import type { ConnectResult } from '../../handlers/verbs.ts'
import { type Cause, type Code, sipStatusOf } from '../errors.ts'

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
