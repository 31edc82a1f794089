/** Recordings of calls and rooms. Each has its file in the folder of its project, unless it is empty. */
export interface RecordingTable {
  /** Random, so that only clients that received the id know it. */
  id: string
  /** Gateway that has the recording and its file. */
  node_id: string
  project_id: string
  call_id: string
  leg_id: string
  status: 'in-progress' | 'completed' | 'failed'
  /** Null during the recording; `interrupted`: the gateway's process ended. */
  end_reason: string | null
  format: 'wav' | 'mp3' | 'webm' | 'mp4'
  channels: number
  /** In Hz. */
  sample_rate: number
  started_at: number
  ended_at: number | null
  /** Duration of the file's audio. */
  duration_ms: number
  /** Size of the file; 0 without a file. */
  bytes: number
  /**
   * Status target that the end is reported to; null without one, or after the report. May contain a user
   * and a password.
   */
  status_json: string | null
  /** Origin of the recording, as the XML dialect names it; null if the dialect has no name for it. */
  source: string | null
  /** Null for a recording stored before this column existed. */
  track: 'inbound' | 'outbound' | 'both' | null
  /** Conference or room session that was recorded; null for other recordings. */
  conference_id: string | null
  /** Code of the fault that ended the recording or its conversion; null without one. */
  error: 'recording_failed' | 'recording_not_converted' | null
  /** `pending`: the file of a room will be replaced by an MP4; null for other files. */
  conversion: 'pending' | null
  /** Files of the members of a room as JSON, see `MemberFile`; null without any. */
  files_json: string | null
  /** Size of the files of members. */
  files_bytes: number
  /** Storage of the customer as JSON, see `RecordingStorage`; null without one, and after the upload. */
  storage_json: string | null
}

/** Undelivered callbacks to customers' servers. */
export interface CallbackTable {
  /** Id of the event; customers' servers receive it. */
  id: string
  /** Gateway that delivers the callback. */
  node_id: string
  project_id: string
  call_id: string
  kind: string
  method: 'GET' | 'POST'
  /** URL of the callback; may contain a user and a password. */
  url: string
  /** Scheme, host and port of the URL. */
  server: string
  content_type: string | null
  body: string | null
  /** Number of attempts. */
  tries: number
  created_at: number
  due_at: number
}
