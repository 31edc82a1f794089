/** Recordings of calls; each has its file in the folder of its project, but those that hold no sound. */
export interface RecordingTable {
  /** Random: whoever knows it has it from us. */
  id: string
  /** The gateway that has it, and its file; null: it was written before gateways had ids. */
  node_id: string | null
  project_id: string
  call_id: string
  leg_id: string
  status: 'in-progress' | 'completed' | 'failed'
  /** Null while it is in progress; `interrupted`: the process died. */
  end_reason: string | null
  format: 'wav' | 'mp3'
  channels: number
  /** In Hz. */
  sample_rate: number
  started_at: number
  ended_at: number | null
  /** Of what the file holds. */
  duration_ms: number
  /** Of the file; 0: there is none. */
  bytes: number
  /** Who is to be told how it ended; null: nobody, or it was told. May hold a user and a password. */
  status_json: string | null
  /** What made it, in the words of the XML family; null: nothing that has a word there. */
  source: string | null
  /** Null: it was written before that was kept. */
  track: 'inbound' | 'outbound' | 'both' | null
  /** Of the conference that it is of. */
  conference_id: string | null
}

/** Callbacks of customers' servers that were not delivered yet. */
export interface CallbackTable {
  /** Of the event; customers' servers see it. */
  id: string
  /** The gateway that delivers it; null: it was written before gateways had ids. */
  node_id: string | null
  project_id: string
  call_id: string
  kind: string
  method: 'GET' | 'POST'
  /** May hold a user and a password. */
  url: string
  /** Scheme, host and port of the URL. */
  server: string
  content_type: string | null
  body: string | null
  /** How often it was tried. */
  tries: number
  created_at: number
  due_at: number
}
