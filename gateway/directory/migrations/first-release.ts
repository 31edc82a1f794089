import { sql } from 'kysely'
import type { Migration } from './migration.ts'

/**
 * Tables and indexes of the first release, in the SQL that both databases understand. `schema.ts` describes
 * the columns.
 */
export const firstRelease: Migration = {
  name: 'tables of the first release',
  up: async (db) => {
    const all = [directoryTables, tokenTables, callTables, chatTables].join('')
    // SQLite prepares one statement at a time.
    for (const statement of all.split(/;\n/)) if (statement.trim()) await sql.raw(statement).execute(db)
  },
}

/** Projects, and what they own. */
const directoryTables = `
create table project (
  id text primary key,
  name text not null unique,
  created_at bigint not null
);
create table api_token (
  id text primary key,
  project_id text not null references project (id),
  name text not null,
  hash text not null unique,
  scopes_json text not null,
  managed_by_file integer not null,
  created_at bigint not null,
  expires_at bigint
);
create table resource (
  id text primary key,
  project_id text not null references project (id),
  type text not null,
  display_name text not null,
  details_json text not null,
  managed_by_file integer not null,
  created_at bigint not null,
  updated_at bigint not null
);
create table address (
  id text primary key,
  resource_id text not null unique references resource (id) on delete cascade,
  project_id text not null,
  context text not null,
  name text not null,
  created_at bigint not null,
  constraint address_of_project unique (project_id, context, name)
);
create table subscriber (
  resource_id text primary key references resource (id) on delete cascade,
  project_id text not null,
  email text not null,
  password_hash text,
  password_mark text,
  disabled integer not null,
  tokens_after bigint not null,
  push_key text,
  constraint subscriber_email unique (project_id, email)
);
create table endpoint (
  resource_id text primary key references resource (id) on delete cascade,
  username text not null unique,
  secrets_json text not null
);
create table flow_version (
  id text primary key,
  resource_id text not null references resource (id) on delete cascade,
  version integer not null,
  flow text,
  script text,
  created_at bigint not null,
  is_current integer not null,
  constraint flow_version_of_flow unique (resource_id, version)
);
create table domain_app (
  id text primary key,
  project_id text not null references project (id),
  name text not null,
  identifier text,
  domain text not null unique,
  user_pattern text not null,
  ip_auth_enabled integer not null,
  ip_auth_json text not null,
  encryption text not null,
  ciphers_json text,
  handler_json text,
  status_json text,
  max_calls integer,
  calls_per_second integer,
  calls_per_second_of_source integer,
  max_calls_of_source integer,
  challenge_json text,
  codecs_json text,
  managed_by_file integer not null,
  created_at bigint not null,
  updated_at bigint not null
);
create table carrier (
  id text primary key,
  project_id text not null,
  name text not null,
  entry_json text not null,
  secrets text,
  is_default integer,
  created_at bigint not null,
  updated_at bigint not null,
  constraint carrier_of_project unique (project_id, name),
  -- Null for all except the default carrier, and no two nulls are equal.
  constraint carrier_default unique (project_id, is_default)
);
create table device (
  id text primary key,
  subscriber_id text not null references resource (id) on delete cascade,
  project_id text not null,
  token text not null,
  type text not null,
  created_at bigint not null,
  constraint device_subscriber_token unique (subscriber_id, token)
);
`

/** Tokens, responses to repeatable requests, and OAuth. */
const tokenTables = `
create table refresh_token (
  id text primary key,
  hash text not null unique,
  family text not null,
  project_id text not null,
  subscriber_id text references resource (id) on delete cascade,
  kind text not null,
  claims_json text not null,
  expires_at bigint not null,
  used_at bigint,
  created_at bigint not null
);
create index refresh_token_expires_at on refresh_token (expires_at);
create index refresh_token_family on refresh_token (family);
create index refresh_token_subscriber_id on refresh_token (subscriber_id);
create table revoked_token (
  jti text primary key,
  expires_at bigint not null
);
create index revoked_token_expires_at on revoked_token (expires_at);
create table idempotency (
  project_id text not null,
  key text not null,
  route text not null,
  request_hash text not null,
  status integer,
  body text,
  content_type text,
  created_at bigint not null,
  constraint idempotency_project_key primary key (project_id, key)
);
create index idempotency_created_at on idempotency (created_at);
create table oauth_client (
  id text primary key,
  project_id text not null,
  name text not null,
  redirect_uris_json text not null,
  native integer not null,
  secret_hash text,
  scopes_json text not null,
  managed_by_file integer not null,
  created_at bigint not null,
  updated_at bigint not null
);
create index oauth_client_project_id on oauth_client (project_id);
create table oauth_payload (
  model text not null,
  id text not null,
  payload_json text not null,
  grant_id text,
  user_code text,
  uid text,
  consumed_at bigint,
  expires_at bigint,
  constraint oauth_payload_model_id primary key (model, id)
);
create index oauth_payload_expires_at on oauth_payload (expires_at);
create index oauth_payload_grant_id on oauth_payload (grant_id);
create index oauth_payload_uid on oauth_payload (uid);
create index oauth_payload_user_code on oauth_payload (user_code);
`

/** Gateways, and their calls, CDRs, recordings and undelivered callbacks. */
const callTables = `
create table node (
  id text primary key,
  seen_at bigint not null
);
create table call (
  id text primary key,
  node_id text not null,
  project_id text not null,
  parent_id text,
  direction text not null,
  type text not null,
  from_uri text not null,
  from_user text not null,
  to_uri text not null,
  to_user text not null,
  status text not null,
  created_at bigint not null,
  ringing_at bigint,
  answered_at bigint,
  ended_at bigint,
  code text,
  sip_status integer,
  answered_by text,
  document text,
  status_json text
);
create index call_by_created_at on call (created_at);
create index call_by_project_id_created_at_id on call (project_id, created_at, id);
create index call_by_project_id_ended_at_id on call (project_id, ended_at, id);
create index call_by_project_id_from_user_created_at_id on call (project_id, from_user, created_at, id);
create index call_by_project_id_parent_id_created_at_id on call (project_id, parent_id, created_at, id);
create index call_by_project_id_status_created_at_id on call (project_id, status, created_at, id);
create index call_by_project_id_to_user_created_at_id on call (project_id, to_user, created_at, id);
create index call_in_progress on call (node_id) where ended_at is null;
create table cdr (
  id text primary key,
  kind text not null,
  project_id text not null,
  call_id text not null,
  place integer not null,
  role text,
  type text not null,
  direction text not null,
  from_uri text not null,
  from_user text not null,
  to_uri text not null,
  to_user text not null,
  carrier text,
  domain text,
  source text,
  sip_call_id text,
  started_at bigint not null,
  ringing_at bigint,
  answered_at bigint,
  ended_at bigint not null,
  duration_ms bigint not null,
  answered_ms bigint not null,
  code text,
  ended_by text,
  sip_status integer,
  q850 integer,
  codec text,
  mos double precision,
  loss double precision,
  jitter_ms double precision,
  record_json text not null
);
create index cdr_by_project_id_call_id_place on cdr (project_id, call_id, place);
create index cdr_by_project_id_kind_carrier_started_at_id
  on cdr (project_id, kind, carrier, started_at, id);
create index cdr_by_project_id_kind_code_started_at_id on cdr (project_id, kind, code, started_at, id);
create index cdr_by_project_id_kind_domain_started_at_id on cdr (project_id, kind, domain, started_at, id);
create index cdr_by_project_id_kind_from_user_started_at_id
  on cdr (project_id, kind, from_user, started_at, id);
create index cdr_by_project_id_kind_started_at_id on cdr (project_id, kind, started_at, id);
create index cdr_by_project_id_kind_to_user_started_at_id
  on cdr (project_id, kind, to_user, started_at, id);
create index cdr_by_started_at on cdr (started_at);
create table recording (
  id text primary key,
  node_id text not null,
  project_id text not null,
  call_id text not null,
  leg_id text not null,
  status text not null check (status in ('in-progress', 'completed', 'failed')),
  end_reason text,
  format text not null,
  channels integer not null,
  sample_rate integer not null,
  started_at bigint not null,
  ended_at bigint,
  duration_ms integer not null,
  bytes bigint not null,
  status_json text,
  source text,
  track text,
  conference_id text
);
create index recording_by_node_id_started_at_id on recording (node_id, started_at, id);
create index recording_by_project_id_call_id_started_at_id
  on recording (project_id, call_id, started_at, id);
create index recording_by_project_id_started_at_id on recording (project_id, started_at, id);
create index recording_in_progress on recording (node_id) where ended_at is null;
create index recording_to_be_told on recording (node_id) where status_json is not null;
create table callback (
  id text primary key,
  node_id text not null,
  project_id text not null,
  call_id text not null,
  kind text not null,
  method text not null,
  url text not null,
  server text not null,
  content_type text,
  body text,
  tries integer not null,
  created_at bigint not null,
  due_at bigint not null
);
create index callback_by_node_id_server_due_at_created_at on callback (node_id, server, due_at, created_at);
`

/** Conversations. */
const chatTables = `
create table conversation (
  id text primary key,
  project_id text not null,
  key text not null,
  kind text not null,
  first_address_id text references address (id) on delete cascade,
  second_address_id text references address (id) on delete cascade,
  addresses_json text not null,
  created_at bigint not null,
  last_message_at bigint,
  active_at bigint not null,
  constraint conversation_of_project unique (project_id, key)
);
create index conversation_by_first_address_id on conversation (first_address_id);
create index conversation_by_second_address_id on conversation (second_address_id);
create table conversation_member (
  conversation_id text not null references conversation (id) on delete cascade,
  holder_id text not null,
  address_id text references address (id) on delete cascade,
  reads_from bigint not null,
  ends_at bigint,
  constraint conversation_member_once primary key (conversation_id, holder_id)
);
create index conversation_member_by_address_id on conversation_member (address_id);
create index conversation_member_by_holder_id on conversation_member (holder_id);
create table message (
  id text primary key,
  conversation_id text not null references conversation (id) on delete cascade,
  author_id text not null,
  author_address_id text references address (id) on delete cascade,
  text text not null,
  metadata_json text not null,
  details_json text not null,
  created_at bigint not null,
  constraint message_of_conversation unique (conversation_id, created_at)
);
create index message_by_author_address_id on message (author_address_id);
create index message_by_created_at on message (created_at);
`
