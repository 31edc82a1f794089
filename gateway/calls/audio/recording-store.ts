import type { RecordingSource, RecordingStatusTarget, RecordingStorage } from '../../../handlers/verbs.ts'
import type {
  MediaPort,
  Recording,
  RecordRequest,
  RoomRecording,
  RoomRecordRequest,
} from '../../../media/types.ts'

/** Request for a recording. */
export interface RecordingOrder {
  readonly projectId: string
  readonly callId: string
  readonly legId: string
  /** Format of the recording; the store chooses its file. */
  readonly request: Omit<RecordRequest, 'path'>
  /** Further storage of the file; default none. */
  readonly storage?: RecordingStorage
  /** Maker of the recording, its conference, and the URL that receives its end. */
  readonly source?: RecordingSource
  readonly conferenceId?: string
  readonly status?: RecordingStatusTarget
}

/** Recording in the store. `done` settles when its file and its row are complete. */
export interface StoredRecording extends Recording {
  /** Unique id. */
  readonly id: string
  /** Link to the complete file; valid for a limited time. */
  readonly url: string
  /** See `CallRecording.stored`. */
  readonly stored?: Promise<string | undefined>
}

/** Store of recordings; implemented by gateway/recordings. */
export interface RecordingStore {
  /**
   * Starts a recording. Throws an error with a code of the catalogue: `recording_no_space`,
   * `recording_failed`.
   */
  start(port: Pick<MediaPort, 'record'>, order: RecordingOrder): StoredRecording
}

/** Request for a recording of a room. */
export interface RoomRecordingOrder {
  readonly projectId: string
  /** A call in the room, and its leg. */
  readonly callId: string
  readonly legId: string
  readonly roomSessionId: string
}

/** Recording of a room in the store. `done` settles when its file and its row are complete. */
export interface StoredRoomRecording extends Pick<RoomRecording, 'done' | 'pause' | 'resume' | 'stop'> {
  readonly id: string
}

/** Store of recordings of rooms; implemented by gateway/recordings. */
export interface RoomRecordingStore {
  /** Starts a recording with `record`. Throws as {@link RecordingStore.start} does. */
  startRoom(
    record: (request: RoomRecordRequest) => RoomRecording,
    order: RoomRecordingOrder,
  ): StoredRoomRecording
}
