import { closeSync, existsSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describeProcess, holderOfLock } from '../core/processes.ts'

/** SQLite's result code SQLITE_BUSY. */
const busy = 5

/** Time in ms to wait for the lock, which {@link isDataFolderTaken} of another process has for a moment. */
const lockWaitMs = 250

/** Returns the open lock of a data folder; undefined if another process has it. */
const lockOf = (file: string, waitMs: number): DatabaseSync | undefined => {
  closeSync(openSync(file, 'a', 0o600))
  // Node cannot lock files. SQLite can, and the system releases the lock when the process ends.
  const lock = new DatabaseSync(file, { timeout: waitMs })
  try {
    lock.exec('begin exclusive')
    return lock
  } catch (error) {
    lock.close()
    if ((error as { readonly errcode?: number }).errcode !== busy) throw error
    return undefined
  }
}

/**
 * Locks a data folder until this process releases the folder or ends. Two gateways in one folder would share
 * an id, and neither would notice the other's changes in SQLite. Throws if another process has the lock.
 */
export const takeDataFolder = (folder: string): { release(): void } => {
  const file = lockFileOf(folder)
  const lock = lockOf(file, lockWaitMs)
  if (lock) return { release: () => lock.close() }
  const holder = holderOfLock(file)
  const which = holder ? `: ${describeProcess(holder)}` : ''
  throw new Error(`Another gateway runs with the data folder ${folder}${which}.`)
}

/** Whether a process has locked a data folder. A folder that does not exist is not locked. */
export const isDataFolderTaken = (folder: string): boolean => {
  if (!existsSync(lockFileOf(folder))) return false
  const lock = lockOf(lockFileOf(folder), 0)
  lock?.close()
  return !lock
}

const lockFileOf = (folder: string): string => join(folder, 'gateway.lock')
