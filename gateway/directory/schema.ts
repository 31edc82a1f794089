/** The tables of the directory. Times are milliseconds since the Unix epoch; flags are 0 or 1; `…_json` holds JSON text. */
export interface Tables {
  schema_version: SchemaVersionTable
  domain_app: DomainAppTable
  resource: ResourceTable
  subscriber: SubscriberTable
  endpoint: EndpointTable
  address: AddressTable
  recording: RecordingTable
  callback: CallbackTable
}

/** Migrations that have run. */
export interface SchemaVersionTable {
  version: number
  name: string
  applied_at: number
}

/** Custom SIP domains. */
export interface DomainAppTable {
  id: string
  project_id: string
  domain: string
  /** A list of CIDRs; null: anyone may send. */
  allow_json: string | null
  handler_json: string | null
  max_calls: number | null
  calls_per_second: number | null
  calls_per_second_of_source: number | null
  max_calls_of_source: number | null
  /** A digest secret; null: callers have to prove nothing. */
  challenge_json: string | null
  /** A list of codecs; null: those of the carrier. */
  codecs_json: string | null
  /** 1: declared in the configuration file, and removed with it. */
  managed_by_file: number
  created_at: number
}

/** Everything that has an address. */
export interface ResourceTable {
  id: string
  project_id: string
  type: 'subscriber' | 'app' | 'endpoint'
  display_name: string
  /** What runs when an `app` is called, or when an `endpoint` calls; null for subscribers. */
  handler_json: string | null
  managed_by_file: number
  created_at: number
}

/** What a resource of type `subscriber` has besides. */
export interface SubscriberTable {
  resource_id: string
  /** Lower case. */
  email: string
  password_hash: string
  /** Keyed digest of the password as the file has it: tells whether it changed without the cost of the hash. */
  password_mark: string
  first_name: string
  last_name: string
  may_dial_out: number
}

/** What a resource of type `endpoint` has besides. */
export interface EndpointTable {
  resource_id: string
  /** Digest user name, with regard to case. */
  username: string
  caller_id: string
  may_dial_out: number
  /** Null: no limit of its own. */
  max_calls: number | null
  calls_per_second: number | null
  /** A list of codecs; null: G.711. */
  codecs_json: string | null
  /** A list of digest secrets, one for each realm; never the password. */
  secrets_json: string
}

/** The one address of a resource. */
export interface AddressTable {
  id: string
  resource_id: string
  context: string
  name: string
  created_at: number
}

/** Recordings of calls; each has its file in the folder of its project, but those that hold no sound. */
export interface RecordingTable {
  /** Random: whoever knows it has it from us. */
  id: string
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
}

/** Callbacks of customers' servers that were not delivered yet. */
export interface CallbackTable {
  /** Of the event; customers' servers see it. */
  id: string
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
