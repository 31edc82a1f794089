import type { ResourceType } from './resource-types.ts'
import type { CallbackTable, RecordingTable } from './schema-calls.ts'
import type { ConversationMemberTable, ConversationTable, MessageTable } from './schema-chat.ts'
import type { CallTable, CdrTable, NodeTable } from './schema-records.ts'
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
export type * from './schema-tokens.ts'

/**
 * The tables of the directory. Times are milliseconds since the Unix epoch; flags are 0 or 1; `…_json` holds
 * JSON text.
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
  conversation: ConversationTable
  conversation_member: ConversationMemberTable
  message: MessageTable
}

/** Carriers that the API made. */
export interface CarrierTable {
  id: string
  project_id: string
  /** Unique in the project. */
  name: string
  /** An entry of the configuration file's `carriers`, without passwords. */
  entry_json: string
  /** The passwords, sealed; null: it has none. */
  secrets: string | null
  /** 1: numbers of the project go to it; null: they do not. No two of a project have 1. */
  is_default: 1 | null
  created_at: number
  updated_at: number
}

/** Migrations that have run. */
export interface SchemaVersionTable {
  version: number
  name: string
  applied_at: number
}

/**
 * Whom everything belongs to. A project that the file has no longer stays, as its calls and recordings do.
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
  /** Null: the file names the domain. */
  identifier: string | null
  /** Lower case; unique over all projects. */
  domain: string
  /** User of the request-URI; `*`: any. */
  user_pattern: string
  /** 0: anyone may send. */
  ip_auth_enabled: number
  /** A list of CIDRs. */
  ip_auth_json: string
  encryption: 'optional' | 'required' | 'forbidden'
  /** A list of SRTP suites; null: all. */
  ciphers_json: string | null
  /** A handler source. */
  handler_json: string | null
  status_json: string | null
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
  updated_at: number
}

/** Everything that has an address. */
export interface ResourceTable {
  id: string
  project_id: string
  type: ResourceType
  display_name: string
  /** What the kind has of its own, but what has a column in a table of its own. */
  details_json: string
  managed_by_file: number
  created_at: number
  updated_at: number
}

/** What a resource of type `subscriber` has besides. */
export interface SubscriberTable {
  resource_id: string
  project_id: string
  /** Lower case; unique in the project. */
  email: string
  /** Null: signs in with no password. */
  password_hash: string | null
  /**
   * Keyed digest of the password as the file has it: tells whether it changed without the cost of the hash.
   */
  password_mark: string | null
  /** 1: may not sign in, and its tokens are not good. */
  disabled: number
  /** Tokens that were issued before this (ms since the Unix epoch) are not good any more. */
  tokens_after: number
  /** Notifications are encrypted with it, base64; null: none was made yet. */
  push_key: string | null
}

/** What a resource of type `sip_endpoint` has besides. */
export interface EndpointTable {
  resource_id: string
  /** Digest user name, with regard to case; unique over all projects. */
  username: string
  /** A list of digest secrets, one for each realm; never the password. */
  secrets_json: string
}

/** The one address of a resource; unique in the project. */
export interface AddressTable {
  id: string
  resource_id: string
  project_id: string
  context: string
  name: string
  created_at: number
}

/** Versions of call flows as they were deployed. */
export interface FlowVersionTable {
  id: string
  resource_id: string
  /** Of the working copy that it was. */
  version: number
  flow: string | null
  script: string | null
  created_at: number
  /** 1: the one that runs. */
  is_current: number
}
