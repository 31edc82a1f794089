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

/** File of one member in a recording of a room. Times and names are those of the API. */
export interface MemberFile {
  /** File name, unique within the recording. */
  readonly name: string
  readonly member_id: string
  readonly kind: 'camera' | 'screen' | 'audio'
  /** Time of its start in the recording, in seconds. */
  readonly start: number
  /** In seconds. Absent until the file is complete, as is the size. */
  readonly duration?: number
  readonly size_in_bytes?: number
}

/** Member in a {@link RecordingManifest}. */
export interface ManifestMember {
  readonly id: string
  readonly name: string
  readonly type: 'member' | 'screen' | 'device'
  /** Member that a screen or a device belongs to. */
  readonly parent_id?: string
}

/** Layout and speaker from a time of the recording on, in seconds. */
export interface ManifestMoment {
  readonly at: number
  /** Name of the layout. */
  readonly layout: string
  /** Id of the present speaker; null before the first one. */
  readonly speaker: string | null
  /** Members in the picture, with their rectangles in percent. */
  readonly layers: readonly {
    readonly member_id: string
    readonly x: number
    readonly y: number
    readonly width: number
    readonly height: number
  }[]
}

/** Contents of `manifest.json` beside the files of the members of a recording. */
export interface RecordingManifest {
  readonly room_session_id: string
  readonly room_name: string
  /** Start of the recording (RFC 3339). */
  readonly started_at: string
  readonly members: readonly ManifestMember[]
  readonly files: readonly MemberFile[]
  readonly timeline: readonly ManifestMoment[]
  /** Whether files or moments are missing because there were too many. */
  readonly is_truncated: boolean
}

/** Place of the files of the members of one recording. */
export interface MemberPlace {
  /** Returns the path of a file. */
  pathOf(name: string): string
  /** Saves the manifest as it is now: a second later at most, up to a minute later if it is long. */
  save(manifest: RecordingManifest): void
}

/** Request for a recording of a room. */
export interface RoomRecordingOrder {
  readonly projectId: string
  /** A call in the room, and its leg. */
  readonly callId: string
  readonly legId: string
  readonly roomSessionId: string
  /** Whether the members have files of their own; default false. */
  readonly hasMembers?: boolean
  /** Further storage of the file; default none. */
  readonly storage?: RecordingStorage
}

/** Recording of a room in the store. `done` settles when its file and its row are complete. */
export interface StoredRoomRecording extends Pick<RoomRecording, 'done' | 'pause' | 'resume' | 'stop'> {
  readonly id: string
}

/** Store of recordings of rooms; implemented by gateway/recordings. */
export interface RoomRecordingStore {
  /**
   * Starts a recording with `record`, which receives a place for the files of members if the order has them.
   * Throws as {@link RecordingStore.start} does.
   */
  startRoom(
    record: (request: RoomRecordRequest, members?: MemberPlace) => RoomRecording,
    order: RoomRecordingOrder,
  ): StoredRoomRecording
}
