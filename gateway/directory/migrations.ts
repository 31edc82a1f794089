import { type Kysely, sql } from 'kysely'
import type { Clock } from '../clock.ts'
import type { Store } from './sqlite.ts'

interface Migration {
  readonly name: string
  up(db: Kysely<unknown>): Promise<void>
}

/** In order; the version is the position, counted from 1. What was released is never edited: a change is a new entry. */
const migrations: readonly Migration[] = [
  {
    name: 'domain apps, resources, subscribers and addresses',
    up: async (db) => {
      await createDomainApps(db)
      await createResources(db)
      await createSubscribers(db)
      await createAddresses(db)
    },
  },
]

/**
 * Brings the store to the present version, each step in a transaction of its own. Returns the version.
 * Throws when the store was written by a later release.
 */
export const migrate = async (store: Store, clock: Pick<Clock, 'now'>): Promise<number> => {
  await store.schema
    .createTable('schema_version')
    .ifNotExists()
    .addColumn('version', 'integer', (c) => c.primaryKey())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('applied_at', 'bigint', (c) => c.notNull())
    .execute()
  const row = await store
    .selectFrom('schema_version')
    .select((q) => q.fn.max('version').as('version'))
    .executeTakeFirst()
  const present = Number(row?.version ?? 0)
  if (present > migrations.length)
    throw new Error(
      `The directory store has version ${present}; this release knows versions up to ${migrations.length}.`,
    )
  for (const [index, migration] of migrations.entries()) {
    if (index < present) continue
    await step(store, migration, index + 1, clock.now())
  }
  return migrations.length
}

const step = (store: Store, migration: Migration, version: number, now: number): Promise<void> =>
  store.transaction().execute(async (transaction) => {
    await migration.up(transaction as unknown as Kysely<unknown>)
    await transaction
      .insertInto('schema_version')
      .values({ version, name: migration.name, applied_at: now })
      .execute()
  })

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

const createResources = (db: Kysely<unknown>): Promise<void> =>
  db.schema
    .createTable('resource')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('project_id', 'text', (c) => c.notNull())
    .addColumn('type', 'text', (c) => c.notNull().check(sql`type in ('subscriber', 'app')`))
    .addColumn('display_name', 'text', (c) => c.notNull())
    .addColumn('handler_json', 'text')
    .addColumn('managed_by_file', 'integer', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .execute()

const createSubscribers = (db: Kysely<unknown>): Promise<void> =>
  db.schema
    .createTable('subscriber')
    .addColumn('resource_id', 'text', (c) => c.primaryKey().references('resource.id').onDelete('cascade'))
    .addColumn('email', 'text', (c) => c.notNull().unique())
    .addColumn('password_hash', 'text', (c) => c.notNull())
    .addColumn('password_mark', 'text', (c) => c.notNull())
    .addColumn('first_name', 'text', (c) => c.notNull())
    .addColumn('last_name', 'text', (c) => c.notNull())
    .addColumn('may_dial_out', 'integer', (c) => c.notNull())
    .execute()

const createAddresses = (db: Kysely<unknown>): Promise<void> =>
  db.schema
    .createTable('address')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('resource_id', 'text', (c) =>
      c.notNull().unique().references('resource.id').onDelete('cascade'),
    )
    .addColumn('context', 'text', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addUniqueConstraint('address_context_name', ['context', 'name'])
    .execute()
