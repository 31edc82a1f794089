import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { sql } from 'kysely'
import type { Clock } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import { migrations } from '../migrations/list.ts'
import { migrate } from '../migrations/run.ts'
import { openSqliteStore, readSqliteStore, type Store } from '../store/sqlite.ts'
import type { DirectoryOptions } from './directory-options.ts'
import { openEngine } from './open-engine.ts'

/** Tables of the directory in the order of their references, with the key that orders their rows. */
const directoryTables = [
  ['project', 'id'],
  ['carrier', 'id'],
  ['domain_app', 'id'],
  ['resource', 'id'],
  ['subscriber', 'resource_id'],
  ['endpoint', 'resource_id'],
  ['address', 'id'],
  ['flow_version', 'id'],
  ['agent_version', 'id'],
] as const

/** Maximum number of rows in one query. */
const portion = 1_000

/** Copy of the directory's tables in a temporary file. */
export interface DirectorySnapshot {
  /** The SQLite file. */
  readonly file: string
  /** Name of the store that was copied. */
  readonly name: string
  /** Removes the file. */
  remove(): void
}

/** The store has another version than this release, so that its rows cannot be copied. */
export class StoreVersionDiffers extends Error {
  override readonly name = 'StoreVersionDiffers'
}

/**
 * Copies the tables of the directory to a temporary file, without calls, records and messages. The store is
 * only read, and a gateway may use it. Resolves with undefined if there is no store yet. Throws
 * {@link StoreVersionDiffers}, or an error that names a store that cannot be read.
 */
export const copyDirectory = async (
  options: Pick<DirectoryOptions, 'file' | 'url'> & {
    readonly clock: Clock
    readonly log: Pick<Log, 'info' | 'error'>
  },
): Promise<DirectorySnapshot | undefined> => {
  const { file, url, clock, log } = options
  if (url === undefined && !existsSync(file)) return undefined
  const source =
    url === undefined
      ? { name: file, store: readSqliteStore(file) }
      : await openEngine({ file, url, startTimeoutMs: 5_000, clock, log })
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-directory-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  try {
    await requirePresentVersion(source.store, source.name)
    const copy = join(folder, 'directory.db')
    await copyRows(source.store, copy, clock)
    return { file: copy, name: source.name, remove }
  } catch (error) {
    remove()
    throw error
  } finally {
    await source.store.destroy()
  }
}

const requirePresentVersion = async (store: Store, name: string): Promise<void> => {
  const tables = await store.introspection.getTables()
  const rows = tables.some((table) => table.name === 'schema_version')
    ? await store.selectFrom('schema_version').select('version').execute()
    : []
  const version = Math.max(0, ...rows.map((row) => row.version))
  if (version === migrations.length) return
  throw new StoreVersionDiffers(
    `The store ${name} has version ${version}, and this release uses version ${migrations.length}.`,
  )
}

const copyRows = async (from: Store, file: string, clock: Clock): Promise<void> => {
  const to = openSqliteStore(file)
  try {
    await migrate(to, clock)
    // Rows of several tables may belong to different moments; readers ignore a row without its partner.
    await sql`pragma foreign_keys = off`.execute(to)
    for (const [table, key] of directoryTables) await copyTable(from, to, table, key)
  } finally {
    await to.destroy()
  }
}

const copyTable = async (
  from: Store,
  to: Store,
  table: (typeof directoryTables)[number][0],
  key: string,
): Promise<void> => {
  const ref = sql.ref(key)
  for (let after = ''; ; ) {
    const { rows } = await sql<Record<string, unknown>>`
      select * from ${sql.table(table)} where ${ref} > ${after} order by ${ref} limit ${portion}`.execute(
      from,
    )
    for (const row of rows)
      await to
        .insertInto(table)
        .values(row as never)
        .execute()
    const last = rows.at(-1)
    if (!last || rows.length < portion) return
    after = String(last[key])
  }
}

/** Returns the gateway's secret; undefined if its file does not exist, or this user may not read it. */
export const readSecret = (storeFile: string): Uint8Array | undefined => {
  try {
    return new Uint8Array(readFileSync(join(dirname(storeFile), 'secret.key')))
  } catch {
    return undefined
  }
}
