import type { LiveCall, LiveCalls } from '../calls/call-ports.ts'
import type { CallHistory, CallRow } from '../calls/log/call-rows.ts'
import { TrunklineError } from '../core/errors/catalogue.ts'

/** A call in progress, with its row as it is now; throws `unknown_call`, and `call_not_in_progress` where it is over. */
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
