import type { CallInfo, RecordingSource } from '../verbs.ts'
import { type Fields, seconds } from './forms.ts'

/** Which recording is told of. */
export interface Recorded {
  readonly source: RecordingSource
  /** Two: one for each side. */
  readonly channels: 1 | 2
  readonly conferenceSid?: string
}

/** The form that tells what became of a recording. */
export const recordingFields = (
  { projectId, callId }: Pick<CallInfo, 'projectId' | 'callId'>,
  { source, channels, conferenceSid }: Recorded,
  status: 'in-progress' | 'completed' | 'absent' | 'failed',
  { id, url, durationMs }: { readonly id: string; readonly url: string; readonly durationMs?: number },
): Fields => ({
  AccountSid: projectId,
  CallSid: callId,
  ...(conferenceSid !== undefined && { ConferenceSid: conferenceSid }),
  RecordingSid: id,
  ...(status !== 'absent' && { RecordingUrl: url }),
  RecordingStatus: status,
  ...(durationMs !== undefined && { RecordingDuration: seconds(durationMs) }),
  RecordingChannels: String(channels),
  RecordingSource: source,
})
