import type { Clock } from '../../core/clock.ts'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import type { Changed, Memory } from '../index/memory.ts'
import type { Store } from '../store/sqlite.ts'
import type { Quotas } from './quotas.ts'

/** Collaborators of all writers of the store. */
export interface WritingDeps {
  readonly store: Store
  readonly memory: Memory
  /**
   * Reads changes into memory, here and on the other gateways of the store. Resolves when reads show the
   * changes.
   */
  readonly changed: (changed: Changed) => Promise<void>
  readonly quotas: Quotas
  readonly clock: Pick<Clock, 'now'>
}

/** Returns an entry that was looked up. Throws `unknown_resource` if it is undefined. */
export const present = <T>(entry: T | undefined): T => {
  if (entry === undefined) throw new TrunklineError('unknown_resource')
  return entry
}

/** Returns an entry that the API may change. Throws `unknown_resource`, `managed_by_file`. */
export const changeable = <T extends { readonly managedByFile: boolean }>(entry: T | undefined): T => {
  const found = present(entry)
  if (found.managedByFile) throw new TrunklineError('managed_by_file')
  return found
}

/** Returns the number of entries that the API has created. */
export const countCreated = (entries: readonly { readonly managedByFile: boolean }[]): number =>
  entries.filter(({ managedByFile }) => !managedByFile).length
