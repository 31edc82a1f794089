import type { ConnectResult } from '../../../handlers/verbs.ts'
import { type Code, sipStatusOf } from '../../core/errors/catalogue.ts'
import type { Branch } from './branch.ts'
import type { ForkFailure } from './fork-types.ts'

type Failed = Extract<ConnectResult, { kind: 'failed' }>

/** Party or limit that ended a connection. */
export type EndedBy = Extract<ConnectResult, { kind: 'connected' }>['endedBy']

const reasons: Partial<Record<Code, Failed['reason']>> = {
  busy: 'busy',
  declined: 'declined',
  no_answer: 'no-answer',
  not_online: 'no-answer',
  no_application: 'no-answer',
  unreachable: 'unreachable',
  unknown_address: 'unreachable',
  control_lost: 'unreachable',
}

/** Returns the result of a `connect` without an answer. */
export const connectFailure = ({ cause, callee }: ForkFailure): Failed => ({
  kind: 'failed',
  reason: reasons[cause.code] ?? 'error',
  sipStatus: sipStatusOf(cause),
  code: cause.code,
  ...(callee && { callee }),
})

/** Result of a `connect` that its handler has cancelled. */
export const connectCanceled: Failed = { kind: 'failed', reason: 'canceled', code: 'canceled' }

/** Returns the result of a `connect` that a callee answered. `branch`: branch of the last callee. */
export const connectResult = (branch: Branch, endedBy: EndedBy, durationMs: number): ConnectResult => {
  const { callee } = branch
  if (!callee) throw new Error('no callee was dialed')
  return { kind: 'connected', endedBy, durationMs, callee }
}
