import type { CallInfo, RecordingSource, RecordOptions } from '../verbs.ts'
import { type Fields, seconds } from './forms.ts'

const tracks = { inbound: 'in', outbound: 'out', both: 'both' } as const

/** Whom one hears: `inbound` is the far side of the call that is recorded, `outbound` what it hears. */
export type RecordingTrack = keyof typeof tracks

/** The values of {@link RecordingTrack}. */
export const recordingTracks = Object.keys(tracks) as RecordingTrack[]

/** What is recorded of one side or both; `dual` puts both on a channel each. */
export const tracksOf = (track: RecordingTrack, dual: boolean): NonNullable<RecordOptions['tracks']> =>
  dual && track === 'both' ? 'stereo' : tracks[track]

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
