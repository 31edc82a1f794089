import { closeSync, openSync } from 'node:fs'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { Kysely, type SqliteDatabase, SqliteDialect, type SqliteStatement, type Transaction } from 'kysely'
import type { Tables } from './schema.ts'

/** The store's queries, whichever engine runs them. */
export type Store = Kysely<Tables>

/** Queries of which either all hold or none. */
export type Write = Transaction<Tables>

/**
 * Opens (or makes) the SQLite file of the directory, readable by its owner alone; `:memory:` keeps it in memory.
 * Throws an error that names the file when it cannot be opened.
 */
export const openSqliteStore = (file: string): Store =>
  new Kysely<Tables>({ dialect: new SqliteDialect({ database: openDatabase(file) }) })

const openDatabase = (file: string): SqliteDatabase => {
  const database = open(file)
  return {
    close: () => database.close(),
    prepare: (sql) => statement(database, sql),
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

// Kysely's dialect asks for statements in the shape of another driver; ours differ in how parameters are passed.
const statement = (database: DatabaseSync, sql: string): SqliteStatement => {
  const prepared = database.prepare(sql)
  const values = (parameters: readonly unknown[]) => parameters as readonly SQLInputValue[]
  return {
    reader: prepared.columns().length > 0,
    all: (parameters) => prepared.all(...values(parameters)),
    run: (parameters) => prepared.run(...values(parameters)),
    iterate: (parameters) => prepared.iterate(...values(parameters)),
  }
}
