import type { Kysely } from 'kysely'
import type { Clock } from '../../core/clock.ts'
import type { Engine } from '../engine.ts'
import type { Store, Write } from '../sqlite.ts'
import { migrations } from './list.ts'

/** One step of the schema. */
export interface Migration {
  readonly name: string
  up(db: Kysely<unknown>, now: number): Promise<void>
}

/**
 * Migrates the store to the present version, each step in its own transaction. If several gateways start at
 * once, the engine's `lock` lets one do it. Returns the version. Throws if a later release wrote the store.
 */
export const migrate = async (
  store: Store,
  clock: Pick<Clock, 'now'>,
  lock: Engine['lock'] = async () => {},
): Promise<number> => {
  await store.transaction().execute(async (write) => {
    await lock(write)
    await createVersions(write)
  })
  for (let more = true; more; )
    more = await store.transaction().execute(async (write) => {
      await lock(write)
      return step(write, clock.now())
    })
  return migrations.length
}

/** Returns the names of the missing steps in order. Throws like {@link migrate}, and changes nothing. */
export const missingSteps = async (store: Store): Promise<readonly string[]> => {
  const tables = await store.introspection.getTables()
  const present = tables.some(({ name }) => name === 'schema_version') ? await versionOf(store) : 0
  return migrations.slice(present).map(({ name }) => name)
}

const createVersions = (write: Write): Promise<void> =>
  write.schema
    .createTable('schema_version')
    .ifNotExists()
    .addColumn('version', 'integer', (c) => c.primaryKey())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('applied_at', 'bigint', (c) => c.notNull())
    .execute()

const versionOf = async (store: Store): Promise<number> => {
  const row = await store
    .selectFrom('schema_version')
    .select((q) => q.fn.max('version').as('version'))
    .executeTakeFirst()
  const present = Number(row?.version ?? 0)
  if (present > migrations.length)
    throw new Error(
      `The directory store has version ${present}; this release knows versions up to ${migrations.length}.`,
    )
  return present
}

/** Runs the next step; returns false after the last one. */
const step = async (write: Write, now: number): Promise<boolean> => {
  const present = await versionOf(write)
  const migration = migrations[present]
  if (!migration) return false
  await migration.up(write as unknown as Kysely<unknown>, now)
  await write
    .insertInto('schema_version')
    .values({ version: present + 1, name: migration.name, applied_at: now })
    .execute()
  return true
}
