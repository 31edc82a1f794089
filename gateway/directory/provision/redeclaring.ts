import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../../core/clock.ts'
import type { Contents } from '../index/contents.ts'
import { defaultSilence } from '../model/agent-script.ts'
import type { Store } from '../store/sqlite.ts'
import type { StoredDomainApps } from '../writing/domain-apps.ts'
import type { StoredProjectCarriers } from '../writing/project-carriers.ts'
import type { Quotas } from '../writing/quotas.ts'
import type { PreparedStep } from './config-followers.ts'
import { type DeclaringConfig, declaredBy } from './declared.ts'
import { type Hashing, prepareProvision } from './provision.ts'

/** Collaborators of {@link Redeclaring}. */
export interface RedeclaringDeps {
  readonly store: Store
  readonly hashing: Hashing
  readonly clock: Pick<Clock, 'now'>
  readonly quotas: Pick<Quotas, 'change'>
  readonly domainApps: Pick<StoredDomainApps, 'changeSuffix'>
  readonly carriers: Pick<StoredProjectCarriers, 'declare'>
  readonly contents: Pick<Contents, 'silence'>
  /** Reads everything into memory. */
  readonly refresh: () => Promise<void>
}

/** Applies the declarations of another configuration to the directory of a running gateway. */
export class Redeclaring {
  readonly #deps: RedeclaringDeps

  constructor(deps: RedeclaringDeps) {
    this.#deps = deps
  }

  /** See `Directory.prepareDeclared`. */
  async prepare(next: DeclaringConfig, now: DeclaringConfig): Promise<PreparedStep | undefined> {
    if (isDeepStrictEqual(next, now)) return undefined
    const { store, hashing, clock, refresh } = this.#deps
    const declared = declaredBy(next.config)
    const commit = () => this.#commit(next)
    if (isDeepStrictEqual(declared, declaredBy(now.config))) return { commit }
    const provision = await prepareProvision(store, declared, hashing)
    return { write: (write) => provision(write, clock.now()), commit, after: refresh }
  }

  #commit({ config, limits, domainSuffix }: DeclaringConfig): void {
    const { quotas, domainApps, carriers, contents } = this.#deps
    quotas.change(limits)
    domainApps.changeSuffix(domainSuffix)
    carriers.declare(config.carriers ?? [], config.project)
    contents.silence = config.agents?.silence ?? defaultSilence
  }
}
