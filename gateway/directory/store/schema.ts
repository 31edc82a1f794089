import type { ResourceType } from '../model/resource-types.ts'
import type { CallbackTable, RecordingTable } from './schema-calls.ts'
import type { ConversationMemberTable, ConversationTable, MessageTable } from './schema-chat.ts'
import type { CallTable, CdrTable, NodeTable, SubscriberCallTable } from './schema-records.ts'
import type {
  ConferenceTokenTable,
  RoomEventTable,
  RoomMemberTable,
  RoomSessionTable,
  RoomStreamTable,
} from './schema-rooms.ts'
import type {
  DeviceTable,
  IdempotencyTable,
  OAuthClientTable,
  OAuthPayloadTable,
  RefreshTokenTable,
  RevokedTokenTable,
} from './schema-tokens.ts'

export type * from './schema-calls.ts'
export type * from './schema-chat.ts'
export type * from './schema-records.ts'
export type * from './schema-rooms.ts'
export type * from './schema-tokens.ts'

/**
 * Tables of the directory. Times are milliseconds since the Unix epoch; flags are 0 or 1; `…_json` holds JSON
 * text.
 */
export interface Tables {
  schema_version: SchemaVersionTable
  project: ProjectTable
  api_token: ApiTokenTable
  domain_app: DomainAppTable
  carrier: CarrierTable
  resource: ResourceTable
  subscriber: SubscriberTable
  endpoint: EndpointTable
  address: AddressTable
  flow_version: FlowVersionTable
  agent_version: AgentVersionTable
  refresh_token: RefreshTokenTable
  revoked_token: RevokedTokenTable
  idempotency: IdempotencyTable
  oauth_client: OAuthClientTable
  oauth_payload: OAuthPayloadTable
  device: DeviceTable
  recording: RecordingTable
  callback: CallbackTable
  call: CallTable
  cdr: CdrTable
  node: NodeTable
  subscriber_call: SubscriberCallTable
  conversation: ConversationTable
  conversation_member: ConversationMemberTable
  message: MessageTable
  room_session: RoomSessionTable
  room_member: RoomMemberTable
  room_event: RoomEventTable
  room_stream: RoomStreamTable
  conference_token: ConferenceTokenTable
}

/** Carriers of the API. */
export interface CarrierTable {
  id: string
  project_id: string
  /** Unique in the project. */
  name: string
  /** Entry of the configuration file's `carriers`, without passwords. */
  entry_json: string
  /** The passwords, sealed; null without passwords. */
  secrets: string | null
  /**
   * 1 for the carrier that gets the project's calls to telephone numbers; otherwise null. At most one carrier
   * of a project has 1.
   */
  is_default: 1 | null
  created_at: number
  updated_at: number
}

/** Migrations that have been applied. */
export interface SchemaVersionTable {
  version: number
  name: string
  applied_at: number
}

/**
 * Projects, the owners of all data. A project that is no longer in the file stays, like its calls and
 * recordings.
 */
export interface ProjectTable {
  id: string
  /** Letters, digits and dashes; unique. */
  name: string
  created_at: number
}

/** Tokens of the API. */
export interface ApiTokenTable {
  id: string
  project_id: string
  name: string
  /** SHA-256 of the secret, hex. */
  hash: string
  scopes_json: string
  managed_by_file: number
  created_at: number
  /** Null: never. */
  expires_at: number | null
}

/** Custom SIP domains. */
export interface DomainAppTable {
  id: string
  project_id: string
  name: string
  /** Null if the file names the domain. */
  identifier: string | null
  /** Lower case; unique over all projects. */
  domain: string
  /** User of the request-URI; `*`: any. */
  user_pattern: string
  /** 0: any source may send. */
  ip_auth_enabled: number
  /** List of CIDRs. */
  ip_auth_json: string
  encryption: 'optional' | 'required' | 'forbidden'
  /** List of SRTP suites; null: all. */
  ciphers_json: string | null
  /** A handler source. */
  handler_json: string | null
  status_json: string | null
  max_calls: number | null
  calls_per_second: number | null
  calls_per_second_of_source: number | null
  max_calls_of_source: number | null
  /** Digest secret; null: callers need no credentials. */
  challenge_json: string | null
  /** List of codecs; null: the codecs of the carrier. */
  codecs_json: string | null
  /** 1: declared in the configuration file, and removed with it. */
  managed_by_file: number
  created_at: number
  updated_at: number
}

/** Resources with an address. */
export interface ResourceTable {
  id: string
  project_id: string
  type: ResourceType
  display_name: string
  /** Details of the type, except those with a column in a separate table. */
  details_json: string
  managed_by_file: number
  created_at: number
  updated_at: number
}

/** Further columns of a resource of type `subscriber`. */
export interface SubscriberTable {
  resource_id: string
  project_id: string
  /** Lower case; unique in the project. */
  email: string
  /** Null: cannot sign in with a password. */
  password_hash: string | null
  /** Keyed digest of the password in the file: detects a change without the cost of the hash. */
  password_mark: string | null
  /** 1: may not sign in, and its tokens are invalid. */
  disabled: number
  /** Tokens issued before this time (ms since the Unix epoch) are invalid. */
  tokens_after: number
  /** Key that encrypts notifications, base64; null before its creation. */
  push_key: string | null
  /** 1: calls to the subscriber are busy; null or 0: they ring. */
  do_not_disturb: number | null
}

/** Further columns of a resource of type `sip_endpoint`. */
export interface EndpointTable {
  resource_id: string
  /** Digest user name, case-sensitive; unique over all projects. */
  username: string
  /** List of digest secrets, one for each realm; never the password. */
  secrets_json: string
}

/** The only address of a resource; unique in the project. */
export interface AddressTable {
  id: string
  resource_id: string
  project_id: string
  context: string
  name: string
  created_at: number
}

/** Versions of voice agents: their settings after each change. */
export interface AgentVersionTable {
  id: string
  resource_id: string
  version: number
  settings_json: string
  created_at: number
  /** 1: the present settings. */
  is_current: number
}

/** Deployed versions of call flows. */
export interface FlowVersionTable {
  id: string
  resource_id: string
  /** Version of the working copy at its deployment. */
  version: number
  flow: string | null
  script: string | null
  created_at: number
  /** 1: the running one. */
  is_current: number
}
