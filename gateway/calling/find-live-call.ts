import type { LiveCall, LiveCalls } from '../calls/call/live-call.ts'
import type { CallHistory, CallRow } from '../calls/log/call-rows.ts'
import { TrunklineError } from '../core/errors/catalogue.ts'

/**
 * Returns a call in progress with its row. Throws `unknown_call`, or `call_not_in_progress` for an ended
 * call.
 */
export const findLiveCall = async (
  calls: LiveCalls,
  history: Pick<CallHistory, 'find'>,
  projectId: string,
  callId: string,
): Promise<{ readonly live: LiveCall; readonly row: CallRow }> => {
  const row = await history.find(projectId, callId)
  if (!row) throw new TrunklineError('unknown_call')
  const live = calls.live(projectId, callId)
  if (!live) throw new TrunklineError('call_not_in_progress')
  return { live, row }
}
