import type { Kysely } from 'kysely'
import { createIndex } from './create-index.ts'
import type { Migration } from './run.ts'

/** Tables of the API and of signing in, besides the directory. */
export const tokens: Migration = {
  name: 'refresh tokens, revocations, idempotency keys, OAuth, devices',
  up: async (db) => {
    await createRefreshTokens(db)
    await createRevocations(db)
    await createIdempotency(db)
    await createClients(db)
    await createPayloads(db)
    await createDevices(db)
  },
}

const createRefreshTokens = async (db: Kysely<unknown>): Promise<void> => {
  await db.schema
    .createTable('refresh_token')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('hash', 'text', (c) => c.notNull().unique())
    .addColumn('family', 'text', (c) => c.notNull())
    .addColumn('project_id', 'text', (c) => c.notNull())
    .addColumn('subscriber_id', 'text', (c) => c.references('resource.id').onDelete('cascade'))
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('claims_json', 'text', (c) => c.notNull())
    .addColumn('expires_at', 'bigint', (c) => c.notNull())
    .addColumn('used_at', 'bigint')
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .execute()
  await index(db, 'refresh_token', 'family')
  await index(db, 'refresh_token', 'subscriber_id')
  await index(db, 'refresh_token', 'expires_at')
}

const createRevocations = async (db: Kysely<unknown>): Promise<void> => {
  await db.schema
    .createTable('revoked_token')
    .addColumn('jti', 'text', (c) => c.primaryKey())
    .addColumn('expires_at', 'bigint', (c) => c.notNull())
    .execute()
  await index(db, 'revoked_token', 'expires_at')
}

const createIdempotency = async (db: Kysely<unknown>): Promise<void> => {
  await db.schema
    .createTable('idempotency')
    .addColumn('project_id', 'text', (c) => c.notNull())
    .addColumn('key', 'text', (c) => c.notNull())
    .addColumn('route', 'text', (c) => c.notNull())
    .addColumn('request_hash', 'text', (c) => c.notNull())
    .addColumn('status', 'integer')
    .addColumn('body', 'text')
    .addColumn('content_type', 'text')
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('idempotency_project_key', ['project_id', 'key'])
    .execute()
  await index(db, 'idempotency', 'created_at')
}

const createClients = async (db: Kysely<unknown>): Promise<void> => {
  await db.schema
    .createTable('oauth_client')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('project_id', 'text', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('redirect_uris_json', 'text', (c) => c.notNull())
    .addColumn('native', 'integer', (c) => c.notNull())
    .addColumn('secret_hash', 'text')
    .addColumn('scopes_json', 'text', (c) => c.notNull())
    .addColumn('managed_by_file', 'integer', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('updated_at', 'bigint', (c) => c.notNull())
    .execute()
  await index(db, 'oauth_client', 'project_id')
}

const createPayloads = async (db: Kysely<unknown>): Promise<void> => {
  await db.schema
    .createTable('oauth_payload')
    .addColumn('model', 'text', (c) => c.notNull())
    .addColumn('id', 'text', (c) => c.notNull())
    .addColumn('payload_json', 'text', (c) => c.notNull())
    .addColumn('grant_id', 'text')
    .addColumn('user_code', 'text')
    .addColumn('uid', 'text')
    .addColumn('consumed_at', 'bigint')
    .addColumn('expires_at', 'bigint')
    .addPrimaryKeyConstraint('oauth_payload_model_id', ['model', 'id'])
    .execute()
  for (const column of ['grant_id', 'user_code', 'uid', 'expires_at'])
    await index(db, 'oauth_payload', column)
}

const createDevices = async (db: Kysely<unknown>): Promise<void> => {
  await db.schema
    .createTable('device')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('subscriber_id', 'text', (c) => c.notNull().references('resource.id').onDelete('cascade'))
    .addColumn('project_id', 'text', (c) => c.notNull())
    .addColumn('token', 'text', (c) => c.notNull())
    .addColumn('type', 'text', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addUniqueConstraint('device_subscriber_token', ['subscriber_id', 'token'])
    .execute()
}

// Their names lack the `by` of later steps.
const index = (db: Kysely<unknown>, table: string, column: string): Promise<void> =>
  createIndex(db, table, [column], `${table}_${column}`)
