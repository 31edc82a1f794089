import { isDeepStrictEqual } from 'node:util'
import type { ProjectLimits } from '../../config/types.ts'
import type { Clock } from '../core/clock.ts'
import type { PreparedStep } from './config-followers.ts'
import { type DirectoryConfig, declaredBy } from './declared.ts'
import { type Hashing, prepareProvision } from './provision/provision.ts'
import type { Store } from './sqlite.ts'
import type { StoredProjectCarriers } from './writing/project-carriers.ts'

/** Parts of a configuration that declare entries of the directory and limit the API. */
export interface DeclaringConfig {
  readonly config: DirectoryConfig
  readonly limits: ProjectLimits
  readonly domainSuffix: string
}

/** Collaborators of {@link Redeclaring}. */
export interface RedeclaringOptions {
  readonly store: Store
  readonly hashing: Hashing
  readonly clock: Pick<Clock, 'now'>
  /** Settings that the writers of the store read. Only {@link Redeclaring} changes them. */
  readonly settings: { readonly limits: ProjectLimits; domainSuffix: string }
  readonly carriers: Pick<StoredProjectCarriers, 'declare'>
  /** Reads everything into memory. */
  readonly refresh: () => Promise<void>
}

/** Applies the declarations of another configuration to the directory of a running gateway. */
export class Redeclaring {
  readonly #options: RedeclaringOptions

  constructor(options: RedeclaringOptions) {
    this.#options = options
  }

  /** See `Directory.prepareDeclared`. */
  async prepare(next: DeclaringConfig, now: DeclaringConfig): Promise<PreparedStep | undefined> {
    if (isDeepStrictEqual(next, now)) return undefined
    const { store, hashing, clock, refresh } = this.#options
    const declared = declaredBy(next.config)
    const commit = () => this.#commit(next)
    if (isDeepStrictEqual(declared, declaredBy(now.config))) return { commit }
    const provision = await prepareProvision(store, declared, hashing)
    return { write: (write) => provision(write, clock.now()), commit, after: refresh }
  }

  #commit({ config, limits, domainSuffix }: DeclaringConfig): void {
    const { settings, carriers } = this.#options
    Object.assign(settings.limits, limits)
    settings.domainSuffix = domainSuffix
    carriers.declare(config.carriers ?? [], config.project)
  }
}
