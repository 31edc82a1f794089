import { formRequest } from '../../handlers/common/forms.ts'
import { recordingFields } from '../../handlers/common/recordings.ts'
import {
  type CallControl,
  CallEnded,
  type CallRecording,
  type RecordingSource,
} from '../../handlers/verbs.ts'
import type { Callbacks } from '../calls/call-ports.ts'
import type { Log } from '../core/log.ts'
import type { CallOrder } from './call-placement.ts'

/** What recording a call works with. */
export interface RecordCallDeps {
  readonly callbacks: Callbacks
  readonly log: Log
}

/** How a call is recorded, and who is told of it. */
type Wanted = NonNullable<CallOrder['record']>

/** Records a call to its end, and tells what becomes of it. Never rejects: a call that cannot be recorded goes on. */
export const recordCall = async (
  call: CallControl,
  wanted: Wanted,
  { callbacks, log }: RecordCallDeps,
): Promise<void> => {
  try {
    await beginRecording(call, { ...wanted, source: 'OutboundAPI' }, callbacks)
  } catch (error) {
    if (!(error instanceof CallEnded))
      log.warn({ call: call.info.callId, reason: String(error) }, 'a call is not recorded')
  }
}

/** Begins a recording, and tells what becomes of it. Rejects as `startRecording` does. */
export const beginRecording = async (
  call: CallControl,
  { tracks, trim, status, source }: Wanted & { readonly source: RecordingSource },
  callbacks: Callbacks,
): Promise<CallRecording> => {
  const { projectId, callId } = call.info
  const what = { source, channels: tracks === 'stereo' ? 2 : 1 } as const
  const tell = (event: string, ...told: Told) => {
    if (!status?.events.includes(event)) return
    const fields = recordingFields(call.info, what, ...told)
    const ends = event === 'in-progress' ? {} : { ends: told[1].id }
    callbacks.notify({ projectId, callId }, { kind: 'recording', ...formRequest(status, fields), ...ends })
  }
  const recording = await call.startRecording({
    tracks,
    trim,
    source,
    ...(status && { statusTarget: { dialect: 'form', ...status } }),
  })
  const { id, url, ended } = recording
  tell('in-progress', 'in-progress', { id, url })
  void ended.then((result) => {
    if (result.bytes === 0) tell('absent', 'absent', result)
    else tell('completed', result.reason === 'error' ? 'failed' : 'completed', result)
  })
  return recording
}

type Told = [status: Parameters<typeof recordingFields>[2], recording: Parameters<typeof recordingFields>[3]]
