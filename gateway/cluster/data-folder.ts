import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** SQLITE_BUSY. */
const busy = 5

/**
 * Takes a data folder for this process, until it gives it back or ends, by whatever: two gateways in one
 * folder would have one id, and one SQLite store of which neither hears what the other one changes. Throws
 * where another process has it.
 */
export const takeDataFolder = (folder: string): { release(): void } => {
  const file = join(folder, 'gateway.lock')
  closeSync(openSync(file, 'a', 0o600))
  // Node locks no files; SQLite does, and the system unlocks them when the process is gone.
  const lock = new DatabaseSync(file)
  try {
    lock.exec('begin exclusive')
  } catch (error) {
    lock.close()
    if ((error as { readonly errcode?: number }).errcode !== busy) throw error
    throw new Error(`Another gateway runs with the data folder ${folder}.`, { cause: error })
  }
  return { release: () => lock.close() }
}
