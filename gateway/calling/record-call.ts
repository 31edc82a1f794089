import { formRequest } from '../../handlers/common/forms.ts'
import { recordingFields } from '../../handlers/common/recordings.ts'
import {
  type CallControl,
  CallEnded,
  type CallRecording,
  type RecordingSource,
} from '../../handlers/verbs.ts'
import type { Callbacks } from '../callbacks/callback-outbox.ts'
import type { Log } from '../core/log.ts'
import type { CallOrder } from './call-placement.ts'

/** Collaborators of {@link recordCall}. */
export interface RecordCallDeps {
  readonly callbacks: Callbacks
  readonly log: Log
}

/** Options of a recording, with its status URL. */
type Wanted = NonNullable<CallOrder['record']>

/**
 * Records a call to its end, and reports the recording. Never rejects: a call without a recording goes on.
 */
export const recordCall = async (
  call: CallControl,
  wanted: Wanted,
  { callbacks, log }: RecordCallDeps,
): Promise<void> => {
  try {
    await beginRecording(call, { ...wanted, source: 'OutboundAPI' }, callbacks)
  } catch (error) {
    if (!(error instanceof CallEnded))
      log.warn(
        { event: 'call.recording-failed', call: call.info.callId, reason: String(error) },
        'call not recorded',
      )
  }
}

/** Starts a recording, and reports it. Rejects as `startRecording` does. */
export const beginRecording = async (
  call: CallControl,
  { tracks, trim, status, source }: Wanted & { readonly source: RecordingSource },
  callbacks: Callbacks,
): Promise<CallRecording> => {
  const { projectId, callId } = call.info
  const what = { source, channels: tracks === 'stereo' ? 2 : 1 } as const
  const report = (event: string, ...state: RecordingState) => {
    if (!status?.events.includes(event)) return
    const fields = recordingFields(call.info, what, ...state)
    const ends = event === 'in-progress' ? {} : { ends: state[1].id }
    callbacks.notify({ projectId, callId }, { kind: 'recording', ...formRequest(status, fields), ...ends })
  }
  const recording = await call.startRecording({
    tracks,
    trim,
    source,
    ...(status && { statusTarget: { dialect: 'form', ...status } }),
  })
  const { id, url, ended } = recording
  report('in-progress', 'in-progress', { id, url })
  void ended.then((result) => {
    if (result.bytes === 0) report('absent', 'absent', result)
    else report('completed', result.reason === 'error' ? 'failed' : 'completed', result)
  })
  return recording
}

type RecordingState = [
  status: Parameters<typeof recordingFields>[2],
  recording: Parameters<typeof recordingFields>[3],
]
