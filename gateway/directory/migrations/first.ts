import { type Kysely, sql } from 'kysely'
import type { Migration } from './run.ts'

/** Migrations of the first releases. */
export const first: readonly Migration[] = [
  {
    name: 'domain apps, resources, subscribers and addresses',
    up: async (db) => {
      await createDomainApps(db)
      await createResources(db, 'resource', ['subscriber', 'app'])
      await createSubscribers(db)
      await createAddresses(db)
    },
  },
  {
    name: 'SIP endpoints; rates and challenges of domain apps',
    up: async (db) => {
      await extendDomainApps(db)
      await rebuildResources(db, ['subscriber', 'app', 'endpoint'])
      await createEndpoints(db)
    },
  },
  {
    name: 'limits of endpoints and of the sources of domain apps',
    up: async (db) => {
      await db.schema.alterTable('domain_app').addColumn('max_calls_of_source', 'integer').execute()
      await db.schema.alterTable('endpoint').addColumn('max_calls', 'integer').execute()
      await db.schema.alterTable('endpoint').addColumn('calls_per_second', 'integer').execute()
    },
  },
  {
    name: 'codecs of domain apps and endpoints',
    up: async (db) => {
      await db.schema.alterTable('domain_app').addColumn('codecs_json', 'text').execute()
      await db.schema.alterTable('endpoint').addColumn('codecs_json', 'text').execute()
    },
  },
  { name: 'recordings', up: (db) => createRecordings(db) },
  { name: 'callbacks', up: (db) => createCallbacks(db) },
]

const createDomainApps = (db: Kysely<unknown>): Promise<void> =>
  db.schema
    .createTable('domain_app')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('project_id', 'text', (c) => c.notNull())
    .addColumn('domain', 'text', (c) => c.notNull().unique())
    .addColumn('allow_json', 'text')
    .addColumn('handler_json', 'text')
    .addColumn('max_calls', 'integer')
    .addColumn('managed_by_file', 'integer', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .execute()

const createResources = (db: Kysely<unknown>, name: string, types: readonly string[]): Promise<void> =>
  db.schema
    .createTable(name)
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('project_id', 'text', (c) => c.notNull())
    .addColumn('type', 'text', (c) => c.notNull().check(sql`type in (${sql.join(types.map(sql.lit))})`))
    .addColumn('display_name', 'text', (c) => c.notNull())
    .addColumn('handler_json', 'text')
    .addColumn('managed_by_file', 'integer', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .execute()

const createSubscribers = (db: Kysely<unknown>, name = 'subscriber', parent = 'resource'): Promise<void> =>
  db.schema
    .createTable(name)
    .addColumn('resource_id', 'text', (c) => c.primaryKey().references(`${parent}.id`).onDelete('cascade'))
    .addColumn('email', 'text', (c) => c.notNull().unique())
    .addColumn('password_hash', 'text', (c) => c.notNull())
    .addColumn('password_mark', 'text', (c) => c.notNull())
    .addColumn('first_name', 'text', (c) => c.notNull())
    .addColumn('last_name', 'text', (c) => c.notNull())
    .addColumn('may_dial_out', 'integer', (c) => c.notNull())
    .execute()

const createAddresses = (db: Kysely<unknown>, name = 'address', parent = 'resource'): Promise<void> =>
  db.schema
    .createTable(name)
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('resource_id', 'text', (c) =>
      c.notNull().unique().references(`${parent}.id`).onDelete('cascade'),
    )
    .addColumn('context', 'text', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addUniqueConstraint(`${name}_context_name`, ['context', 'name'])
    .execute()

const extendDomainApps = async (db: Kysely<unknown>): Promise<void> => {
  await db.schema.alterTable('domain_app').addColumn('calls_per_second', 'integer').execute()
  await db.schema.alterTable('domain_app').addColumn('calls_per_second_of_source', 'integer').execute()
  await db.schema.alterTable('domain_app').addColumn('challenge_json', 'text').execute()
}

/**
 * Recreates the table of resources: SQLite cannot change a check constraint. Tables that refer to it are
 * recreated too, because dropping the old one would empty them by their cascade. They come first, and a
 * rename takes the references along.
 */
const rebuildResources = async (db: Kysely<unknown>, types: readonly string[]): Promise<void> => {
  await createResources(db, 'resource_new', types)
  await createSubscribers(db, 'subscriber_new', 'resource_new')
  await createAddresses(db, 'address_new', 'resource_new')
  for (const name of ['resource', 'subscriber', 'address'])
    await sql`insert into ${sql.table(`${name}_new`)} select * from ${sql.table(name)}`.execute(db)
  for (const name of ['address', 'subscriber', 'resource']) await db.schema.dropTable(name).execute()
  for (const name of ['resource', 'subscriber', 'address'])
    await db.schema.alterTable(`${name}_new`).renameTo(name).execute()
}

const createEndpoints = (db: Kysely<unknown>): Promise<void> =>
  db.schema
    .createTable('endpoint')
    .addColumn('resource_id', 'text', (c) => c.primaryKey().references('resource.id').onDelete('cascade'))
    .addColumn('username', 'text', (c) => c.notNull().unique())
    .addColumn('caller_id', 'text', (c) => c.notNull())
    .addColumn('may_dial_out', 'integer', (c) => c.notNull())
    .addColumn('secrets_json', 'text', (c) => c.notNull())
    .execute()

const createRecordings = async (db: Kysely<unknown>): Promise<void> => {
  await db.schema
    .createTable('recording')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('project_id', 'text', (c) => c.notNull())
    .addColumn('call_id', 'text', (c) => c.notNull())
    .addColumn('leg_id', 'text', (c) => c.notNull())
    .addColumn('status', 'text', (c) =>
      c.notNull().check(sql`status in ('in-progress', 'completed', 'failed')`),
    )
    .addColumn('end_reason', 'text')
    .addColumn('format', 'text', (c) => c.notNull())
    .addColumn('channels', 'integer', (c) => c.notNull())
    .addColumn('sample_rate', 'integer', (c) => c.notNull())
    .addColumn('started_at', 'bigint', (c) => c.notNull())
    .addColumn('ended_at', 'bigint')
    .addColumn('duration_ms', 'integer', (c) => c.notNull())
    .addColumn('bytes', 'bigint', (c) => c.notNull())
    .execute()
  await db.schema.createIndex('recording_started_at').on('recording').column('started_at').execute()
}

const createCallbacks = async (db: Kysely<unknown>): Promise<void> => {
  await db.schema
    .createTable('callback')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('project_id', 'text', (c) => c.notNull())
    .addColumn('call_id', 'text', (c) => c.notNull())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('method', 'text', (c) => c.notNull())
    .addColumn('url', 'text', (c) => c.notNull())
    .addColumn('server', 'text', (c) => c.notNull())
    .addColumn('content_type', 'text')
    .addColumn('body', 'text')
    .addColumn('tries', 'integer', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('due_at', 'bigint', (c) => c.notNull())
    .execute()
  await db.schema
    .createIndex('callback_due_at')
    .on('callback')
    .columns(['server', 'due_at', 'created_at'])
    .execute()
}
