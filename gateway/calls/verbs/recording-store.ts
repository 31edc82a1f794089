import type { RecordingSource, RecordingStatusTarget, RecordingStorage } from '../../../handlers/verbs.ts'
import type { MediaPort, Recording, RecordRequest } from '../../../media/types.ts'

/** A recording that is wanted. */
export interface RecordingOrder {
  readonly projectId: string
  readonly callId: string
  readonly legId: string
  /** How; where it is written is the keeper's matter. */
  readonly request: Omit<RecordRequest, 'path'>
  /** Where its file is sent besides; default nowhere. */
  readonly storage?: RecordingStorage
  /** What makes it, of which conference, and whom its maker tells how it ended. */
  readonly source?: RecordingSource
  readonly conferenceId?: string
  readonly status?: RecordingStatusTarget
}

/** A recording that is kept. `done` settles when its file is complete and it is written down. */
export interface StoredRecording extends Recording {
  /** Unique for ever. */
  readonly id: string
  /** A link from which it can be fetched, once it is over; works for a limited time. */
  readonly url: string
  /** See `CallRecording.stored`. */
  readonly stored?: Promise<string | undefined>
}

/** Keeps recordings; implemented by gateway/recordings. */
export interface RecordingStore {
  /** Begins one. Throws an error with a code of the catalogue when that cannot be: `recording_no_space`, `recording_failed`. */
  start(port: Pick<MediaPort, 'record'>, wanted: RecordingOrder): StoredRecording
}
