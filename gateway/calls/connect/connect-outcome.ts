import type { ConnectResult } from '../../../handlers/verbs.ts'
import { type Code, sipStatusOf } from '../../core/errors/catalogue.ts'
import type { Branch } from './branch.ts'
import type { ForkFailure } from './fork-types.ts'

type Failed = Extract<ConnectResult, { kind: 'failed' }>

/** How a time together ended. */
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

/** What a document is told of a hunt in which nobody could be had. */
export const connectFailure = ({ cause, callee }: ForkFailure): Failed => ({
  kind: 'failed',
  reason: reasons[cause.code] ?? 'error',
  sipStatus: sipStatusOf(cause),
  code: cause.code,
  ...(callee && { callee }),
})

/** What it is told of one that it gave up itself. */
export const connectCanceled: Failed = { kind: 'failed', reason: 'canceled', code: 'canceled' }

/** What it is told of two who talked; `branch` is whom the caller talked to last. */
export const connectResult = (branch: Branch, endedBy: EndedBy, durationMs: number): ConnectResult => {
  const { callee } = branch
  if (!callee) throw new Error('nobody was called')
  return { kind: 'connected', endedBy, durationMs, callee }
}
