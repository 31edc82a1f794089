import { type CallControl, CallEnded } from '../../../../handlers/verbs.ts'
import type { LiveCalls } from '../../../calls/call/live-call.ts'
import type { CallHistory } from '../../../calls/log/call-rows.ts'
import { TrunklineError } from '../../../core/errors/catalogue.ts'
import { findCall } from './compat-call-routes.ts'

/** Collaborators of routes that control live calls. */
export interface LiveCallDeps {
  readonly live: LiveCalls
  readonly history: Pick<CallHistory, 'find'>
}

/**
 * Returns the control of an answered call. Throws `unknown_call`, or `call_not_in_progress` if the call is
 * not answered or has ended.
 */
export const controlOf = async (
  { live, history }: LiveCallDeps,
  projectId: string,
  id: string,
): Promise<CallControl> => {
  const call = live.live(projectId, id)
  if (!call) await findCall(history, projectId, id)
  if (!call?.control || call.state !== 'answered') throw new TrunklineError('call_not_in_progress')
  return call.control
}

/** Waits for work on a call. Throws `call_not_in_progress` if the call ends meanwhile. */
export const whileInProgress = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work
  } catch (error) {
    throw error instanceof CallEnded ? new TrunklineError('call_not_in_progress') : error
  }
}
