import type { CallInfo, RecordingSource, RecordOptions } from '../verbs.ts'
import { type Fields, seconds } from './forms.ts'

const tracks = { inbound: 'in', outbound: 'out', both: 'both' } as const

/** Direction of the recorded audio: from the caller (`inbound`), to the caller (`outbound`), or both. */
export type RecordingTrack = keyof typeof tracks

/** Values of {@link RecordingTrack}. */
export const recordingTracks = Object.keys(tracks) as RecordingTrack[]

/** Returns the tracks option of a recording; with `isDual`, both directions have a channel each. */
export const tracksOf = (track: RecordingTrack, isDual: boolean): NonNullable<RecordOptions['tracks']> =>
  isDual && track === 'both' ? 'stereo' : tracks[track]

/** Facts about a recording for its callbacks. */
export interface RecordingFacts {
  readonly source: RecordingSource
  /** Number of channels; 2 is one channel for each direction. */
  readonly channels: 1 | 2
  readonly conferenceSid?: string
}

/** Form fields of a recording's status. */
export const recordingFields = (
  { projectId, callId }: Pick<CallInfo, 'projectId' | 'callId'>,
  { source, channels, conferenceSid }: RecordingFacts,
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
