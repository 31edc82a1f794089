import { closeSync, openSync } from 'node:fs'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { Kysely, type SqliteDatabase, SqliteDialect, type SqliteStatement, type Transaction } from 'kysely'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import type { Tables } from './schema.ts'

/** The store's queries, on either engine. */
export type Store = Kysely<Tables>

/** Transaction: either all of its queries take effect or none. */
export type Write = Transaction<Tables>

/**
 * Receives the outcome of a statement that failed for a reason of the system, such as a full disk; undefined
 * for success.
 */
export type OnSqliteState = (fault: unknown) => void

/**
 * Opens or creates the SQLite file of the directory, readable only by its owner; `:memory:` keeps it in
 * memory. A statement that the disk does not permit rejects with `store_unavailable`. `onState` is called
 * with each such fault, and with undefined for each successful change. Throws an error that names the file if
 * the file cannot be opened.
 */
export const openSqliteStore = (file: string, onState: OnSqliteState = () => {}): Store =>
  new Kysely<Tables>({ dialect: new SqliteDialect({ database: openDatabase(file, onState) }) })

/** Opens a SQLite file that a gateway may use, for reading only. Throws an error that names the file. */
export const readSqliteStore = (file: string): Store =>
  new Kysely<Tables>({ dialect: new SqliteDialect({ database: wrapped(openReadOnly(file), () => {}) }) })

const openReadOnly = (file: string): DatabaseSync => {
  try {
    const database = new DatabaseSync(file, { readOnly: true })
    database.exec('pragma busy_timeout = 5000')
    return database
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`The directory store ${file} cannot be read: ${reason}`, { cause: error })
  }
}

const openDatabase = (file: string, onState: OnSqliteState): SqliteDatabase => wrapped(open(file), onState)

const wrapped = (database: DatabaseSync, onState: OnSqliteState): SqliteDatabase => {
  return {
    close: () => database.close(),
    prepare: (sql) => statement(database, sql, onState),
  }
}

const open = (file: string): DatabaseSync => {
  try {
    // SQLite gives its journal files the mode of the main file.
    if (file !== ':memory:') closeSync(openSync(file, 'a', 0o600))
    const database = new DatabaseSync(file)
    database.exec('pragma journal_mode = wal; pragma synchronous = normal; pragma busy_timeout = 5000')
    database.exec('pragma foreign_keys = on')
    return database
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`The directory store ${file} cannot be opened: ${reason}`, { cause: error })
  }
}

// Kysely's dialect expects the statements of another driver, which passes parameters differently.
const statement = (database: DatabaseSync, sql: string, onState: OnSqliteState): SqliteStatement => {
  // A full disk makes SQLite roll back by itself. A second rollback would fail and hide the reason.
  if (sql === 'rollback' && !database.isTransaction) return nothing
  const isWrite = /^(insert|update|delete|commit)/i.test(sql)
  const guarded = <T>(run: () => T): T => {
    try {
      const result = run()
      if (isWrite && !database.isTransaction) onState(undefined)
      return result
    } catch (error) {
      if (!isSystemFault(error)) throw error
      onState(error)
      throw new TrunklineError('store_unavailable', undefined, {}, error)
    }
  }
  const prepared = guarded(() => database.prepare(sql))
  const values = (parameters: readonly unknown[]) => parameters as readonly SQLInputValue[]
  return {
    reader: prepared.columns().length > 0,
    all: (parameters) => guarded(() => prepared.all(...values(parameters))),
    run: (parameters) => guarded(() => prepared.run(...values(parameters))),
    iterate: (parameters) => prepared.iterate(...values(parameters)),
  }
}

const nothing: SqliteStatement = {
  reader: false,
  all: () => [],
  run: () => ({ changes: 0, lastInsertRowid: 0 }),
  iterate: () => [][Symbol.iterator](),
}

/** Primary result codes of SQLite for faults of the system: busy, read-only, I/O error, full, cannot open. */
const systemFaults: ReadonlySet<number> = new Set([5, 8, 10, 13, 14])

const isSystemFault = (error: unknown): boolean =>
  error instanceof Error &&
  'errcode' in error &&
  typeof error.errcode === 'number' &&
  // The upper bits detail the reason (an extended result code).
  systemFaults.has(error.errcode & 0xff)
