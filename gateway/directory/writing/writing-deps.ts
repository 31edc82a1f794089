import type { ProjectLimits } from '../../../config/types.ts'
import type { Clock } from '../../core/clock.ts'
import type { Changed, Memory } from '../index/memory.ts'
import type { Passwords } from '../passwords.ts'
import type { Store } from '../sqlite.ts'
import type { Quotas } from './quotas.ts'

/** Collaborators of all writers of the store. */
export interface WritingDeps {
  readonly store: Store
  readonly memory: Memory
  /**
   * Reads changes into memory, here and on the other gateways of the store. Resolves when they are visible.
   */
  readonly changed: (changed: Changed) => Promise<void>
  readonly quotas: Quotas
  readonly limits: ProjectLimits
  readonly clock: Pick<Clock, 'now'>
  readonly passwords: Pick<Passwords, 'hash'>
  /** Hosts at which SIP endpoints register. */
  readonly realms: readonly string[]
  /** Suffix of the domains of domain applications; a reload may change it. */
  readonly domainSuffix: string
}
