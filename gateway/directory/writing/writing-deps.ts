import type { ProjectLimits } from '../../../config/types.ts'
import type { Clock } from '../../core/clock.ts'
import type { Changed, Memory } from '../index/memory.ts'
import type { Passwords } from '../passwords.ts'
import type { Store } from '../sqlite.ts'
import type { Quotas } from './quotas.ts'

/** What everything that changes the store works with. */
export interface WritingDeps {
  readonly store: Store
  readonly memory: Memory
  /**
   * Reads what changed into memory, here and on the other gateways of the store; resolves when it is there.
   */
  readonly changed: (changed: Changed) => Promise<void>
  readonly quotas: Quotas
  readonly limits: ProjectLimits
  readonly clock: Pick<Clock, 'now'>
  readonly passwords: Pick<Passwords, 'hash'>
  /** Hosts at which SIP endpoints sign in. */
  readonly realms: readonly string[]
  /** End of the domains of domain applications; a reload may change it. */
  readonly domainSuffix: string
}
