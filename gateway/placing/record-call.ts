import { formRequest } from '../../handlers/common/forms.ts'
import { recordingFields } from '../../handlers/common/recordings.ts'
import { type CallControl, CallEnded } from '../../handlers/verbs.ts'
import type { Callbacks } from '../calls/handling.ts'
import type { Log } from '../log.ts'
import type { CallOrder } from './types.ts'

/** What recording a call works with. */
export interface RecordCallParts {
  readonly callbacks: Callbacks
  readonly log: Log
}

/** Records a call to its end, and tells what becomes of it. Never rejects: a call that cannot be recorded goes on. */
export const recordCall = async (
  call: CallControl,
  { tracks, trim, status }: NonNullable<CallOrder['record']>,
  { callbacks, log }: RecordCallParts,
): Promise<void> => {
  const { projectId, callId } = call.info
  const what = { source: 'OutboundAPI', channels: tracks === 'stereo' ? 2 : 1 } as const
  const tell = (event: string, ...told: Told) => {
    if (!status?.events.includes(event)) return
    const fields = recordingFields(call.info, what, ...told)
    const ends = event === 'in-progress' ? {} : { ends: told[1].id }
    callbacks.notify({ projectId, callId }, { kind: 'recording', ...formRequest(status, fields), ...ends })
  }
  try {
    const recording = await call.startRecording({
      ...{ tracks, trim, source: what.source },
      ...(status && { status: { dialect: 'form', ...status } }),
    })
    tell('in-progress', 'in-progress', recording)
    const result = await recording.ended
    if (result.bytes === 0) tell('absent', 'absent', result)
    else tell('completed', result.reason === 'error' ? 'failed' : 'completed', result)
  } catch (error) {
    if (!(error instanceof CallEnded))
      log.warn({ call: callId, reason: String(error) }, 'a call is not recorded')
  }
}

type Told = [status: Parameters<typeof recordingFields>[2], recording: Parameters<typeof recordingFields>[3]]
