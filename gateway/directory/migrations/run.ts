import type { Kysely } from 'kysely'
import type { Clock } from '../../core/clock.ts'
import type { Engine } from '../store/engine.ts'
import type { Store, Write } from '../store/sqlite.ts'
import { migrations } from './list.ts'
import type { Migration } from './migration.ts'

/**
 * Migrates the store to the current version, each step in its own transaction. If several gateways start at
 * once, the engine's `lock` lets one do it. Returns the version. Throws if the store was created by a later
 * release, or by a development version before the first release.
 */
export const migrate = async (
  store: Store,
  clock: Pick<Clock, 'now'>,
  lock: Engine['lock'] = async () => {},
  steps: readonly Migration[] = migrations,
): Promise<number> => {
  await store.transaction().execute(async (write) => {
    await lock(write)
    await createVersions(write)
  })
  for (let isBehind = true; isBehind; )
    isBehind = await store.transaction().execute(async (write) => {
      await lock(write)
      return runNext(write, steps, clock.now())
    })
  return steps.length
}

/** Returns the names of the missing steps in order. Throws like {@link migrate}, and changes nothing. */
export const missingSteps = async (
  store: Store,
  steps: readonly Migration[] = migrations,
): Promise<readonly string[]> => {
  const tables = await store.introspection.getTables()
  const isPresent = tables.some(({ name }) => name === 'schema_version')
  const version = isPresent ? await versionOf(store, steps) : 0
  return steps.slice(version).map(({ name }) => name)
}

const createVersions = (write: Write): Promise<void> =>
  write.schema
    .createTable('schema_version')
    .ifNotExists()
    .addColumn('version', 'integer', (c) => c.primaryKey())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('applied_at', 'bigint', (c) => c.notNull())
    .execute()

/** Returns the version of the store. Throws if the stored steps are not the first ones of `steps`. */
const versionOf = async (store: Store, steps: readonly Migration[]): Promise<number> => {
  const applied = await store
    .selectFrom('schema_version')
    .select(['version', 'name'])
    .orderBy('version')
    .execute()
  const first = applied[0]
  if (first && first.name !== steps[0]?.name)
    throw new Error(
      'The directory store was made by a development version before the first release, and cannot be read. ' +
        'Move the SQLite file away, or configure an empty PostgreSQL database, and start again. ' +
        'The section "Versions" of docs/operations.md says when the data can be kept.',
    )
  const version = applied.at(-1)?.version ?? 0
  if (version > steps.length)
    throw new Error(
      `The directory store has version ${version}; this release knows versions up to ${steps.length}.`,
    )
  return version
}

/** Runs the next step; returns false after the last one. */
const runNext = async (write: Write, steps: readonly Migration[], now: number): Promise<boolean> => {
  const present = await versionOf(write, steps)
  const migration = steps[present]
  if (!migration) return false
  await migration.up(write as unknown as Kysely<unknown>, now)
  await write
    .insertInto('schema_version')
    .values({ version: present + 1, name: migration.name, applied_at: now })
    .execute()
  return true
}
