import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describeProcess, holderOfLock } from '../core/processes.ts'

/** SQLite's result code SQLITE_BUSY. */
const busy = 5

/**
 * Locks a data folder until this process releases the folder or ends. Two gateways in one folder would share
 * an id, and neither would notice the other's changes in SQLite. Throws if another process has the lock.
 */
export const takeDataFolder = (folder: string): { release(): void } => {
  const file = join(folder, 'gateway.lock')
  closeSync(openSync(file, 'a', 0o600))
  // Node cannot lock files. SQLite can, and the system releases the lock when the process ends.
  const lock = new DatabaseSync(file)
  try {
    lock.exec('begin exclusive')
  } catch (error) {
    lock.close()
    if ((error as { readonly errcode?: number }).errcode !== busy) throw error
    const holder = holderOfLock(file)
    const which = holder ? `: ${describeProcess(holder)}` : ''
    throw new Error(`Another gateway runs with the data folder ${folder}${which}.`, { cause: error })
  }
  return { release: () => lock.close() }
}
