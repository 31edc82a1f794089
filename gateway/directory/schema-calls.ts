/** Recordings of calls. Each has its file in the folder of its project, unless it holds no audio. */
export interface RecordingTable {
  /** Random: only its recipients know it. */
  id: string
  /** Gateway that holds it and its file. */
  node_id: string
  project_id: string
  call_id: string
  leg_id: string
  status: 'in-progress' | 'completed' | 'failed'
  /** Null while it is in progress; `interrupted`: the process ended. */
  end_reason: string | null
  format: 'wav' | 'mp3'
  channels: number
  /** In Hz. */
  sample_rate: number
  started_at: number
  ended_at: number | null
  /** Duration of the file's audio. */
  duration_ms: number
  /** Size of the file; 0 without a file. */
  bytes: number
  /** Status target for its end; null without one, or after the report. May contain a user and a password. */
  status_json: string | null
  /** Origin of the recording, in the words of the XML family; null if they have no word for it. */
  source: string | null
  /** Null if it was stored before the track was. */
  track: 'inbound' | 'outbound' | 'both' | null
  /** Conference of the recording. */
  conference_id: string | null
}

/** Undelivered callbacks to customers' servers. */
export interface CallbackTable {
  /** Id of the event; customers' servers receive it. */
  id: string
  /** Gateway that delivers it. */
  node_id: string
  project_id: string
  call_id: string
  kind: string
  method: 'GET' | 'POST'
  /** May contain a user and a password. */
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
