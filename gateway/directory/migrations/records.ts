import { type Kysely, sql } from 'kysely'
import { createIndex } from './create-index.ts'
import type { Migration } from './run.ts'

/** Calls, their CDRs, indexes for lists of recordings, and the owning gateway of each. */
export const records: Migration = {
  name: 'calls and their records; lists of recordings; gateways',
  up: async (db) => {
    await createNodes(db)
    await createCalls(db)
    await createCdrs(db)
    await extendRecordings(db)
    await extendCallbacks(db)
  },
}

const createNodes = (db: Kysely<unknown>): Promise<void> =>
  db.schema
    .createTable('node')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('seen_at', 'bigint', (c) => c.notNull())
    .execute()

const createCalls = async (db: Kysely<unknown>): Promise<void> => {
  await db.schema
    .createTable('call')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('node_id', 'text', (c) => c.notNull())
    .addColumn('project_id', 'text', (c) => c.notNull())
    .addColumn('parent_id', 'text')
    .addColumn('direction', 'text', (c) => c.notNull())
    .addColumn('type', 'text', (c) => c.notNull())
    .addColumn('from_uri', 'text', (c) => c.notNull())
    .addColumn('from_user', 'text', (c) => c.notNull())
    .addColumn('to_uri', 'text', (c) => c.notNull())
    .addColumn('to_user', 'text', (c) => c.notNull())
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('ringing_at', 'bigint')
    .addColumn('answered_at', 'bigint')
    .addColumn('ended_at', 'bigint')
    .addColumn('code', 'text')
    .addColumn('sip_status', 'integer')
    .addColumn('answered_by', 'text')
    .addColumn('document', 'text')
    .execute()
  // The searched column first, the order of the list after it.
  await createIndex(db, 'call', ['project_id', 'created_at', 'id'])
  for (const column of ['from_user', 'to_user', 'status', 'parent_id'])
    await createIndex(db, 'call', ['project_id', column, 'created_at', 'id'])

  await createIndex(db, 'call', ['project_id', 'ended_at', 'id'])
  // For the removal of old rows of all projects.
  await createIndex(db, 'call', ['created_at'])
  await db.schema
    .createIndex('call_in_progress')
    .on('call')
    .column('node_id')
    .where(sql.ref('ended_at'), 'is', null)
    .execute()
}

const createCdrs = async (db: Kysely<unknown>): Promise<void> => {
  await db.schema
    .createTable('cdr')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('project_id', 'text', (c) => c.notNull())
    .addColumn('call_id', 'text', (c) => c.notNull())
    .addColumn('place', 'integer', (c) => c.notNull())
    .addColumn('role', 'text')
    .addColumn('type', 'text', (c) => c.notNull())
    .addColumn('direction', 'text', (c) => c.notNull())
    .addColumn('from_uri', 'text', (c) => c.notNull())
    .addColumn('from_user', 'text', (c) => c.notNull())
    .addColumn('to_uri', 'text', (c) => c.notNull())
    .addColumn('to_user', 'text', (c) => c.notNull())
    .addColumn('carrier', 'text')
    .addColumn('domain', 'text')
    .addColumn('source', 'text')
    .addColumn('sip_call_id', 'text')
    .addColumn('started_at', 'bigint', (c) => c.notNull())
    .addColumn('ringing_at', 'bigint')
    .addColumn('answered_at', 'bigint')
    .addColumn('ended_at', 'bigint', (c) => c.notNull())
    .addColumn('duration_ms', 'bigint', (c) => c.notNull())
    .addColumn('answered_ms', 'bigint', (c) => c.notNull())
    .addColumn('code', 'text')
    .addColumn('ended_by', 'text')
    .addColumn('sip_status', 'integer')
    .addColumn('q850', 'integer')
    .addColumn('codec', 'text')
    .addColumn('mos', 'double precision')
    .addColumn('loss', 'double precision')
    .addColumn('jitter_ms', 'double precision')
    .addColumn('record_json', 'text', (c) => c.notNull())
    .execute()
  await createIndex(db, 'cdr', ['project_id', 'kind', 'started_at', 'id'])
  for (const column of ['from_user', 'to_user', 'carrier', 'domain', 'code'])
    await createIndex(db, 'cdr', ['project_id', 'kind', column, 'started_at', 'id'])
  await createIndex(db, 'cdr', ['project_id', 'call_id', 'place'])
  await createIndex(db, 'cdr', ['started_at'])
}

/** Assigns each recording to the gateway that holds its file. */
const extendRecordings = async (db: Kysely<unknown>): Promise<void> => {
  await db.schema.alterTable('recording').addColumn('node_id', 'text').execute()
  await db.schema.dropIndex('recording_started_at').execute()
  await createIndex(db, 'recording', ['node_id', 'started_at', 'id'])
  await createIndex(db, 'recording', ['project_id', 'started_at', 'id'])
  await createIndex(db, 'recording', ['project_id', 'call_id', 'started_at', 'id'])
  await db.schema
    .createIndex('recording_in_progress')
    .on('recording')
    .column('node_id')
    .where(sql.ref('ended_at'), 'is', null)
    .execute()
}

/** Assigns each callback to the gateway that delivers it. */
const extendCallbacks = async (db: Kysely<unknown>): Promise<void> => {
  await db.schema.alterTable('callback').addColumn('node_id', 'text').execute()
  await db.schema.dropIndex('callback_due_at').execute()
  await createIndex(db, 'callback', ['node_id', 'server', 'due_at', 'created_at'])
}
