import { chmodSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/**
 * Copies a SQLite store to a new file, consistently, while a gateway may change it. The copy has the state of
 * the moment when it began. Throws if the store is missing.
 */
export const copySqlite = (from: string, to: string): void => {
  const database = new DatabaseSync(from, { readOnly: true })
  try {
    database.exec('pragma busy_timeout = 10000')
    database.prepare('vacuum into ?').run(to)
  } finally {
    database.close()
  }
  chmodSync(to, 0o600)
}

/**
 * Checks the integrity of a SQLite store, and returns the version of its tables. Throws an error that says
 * the first fault.
 */
export const checkSqlite = (file: string): number => {
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    const [result] = database.prepare('pragma integrity_check(1)').all()
    const verdict = String(result?.integrity_check)
    if (verdict !== 'ok') throw new Error(verdict)
    const row = database.prepare('select max(version) as version from schema_version').get()
    return Number(row?.version)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`The store in ${file} is damaged: ${reason}`, { cause: error })
  } finally {
    database.close()
  }
}
