import type { ProjectLimits } from '../../../config/types.ts'
import { TrunklineError } from '../../core/errors/catalogue.ts'

/**
 * Enforces the limits of each project. Entries that are being created count like existing ones, so that
 * simultaneous requests cannot exceed a limit.
 */
export class Quotas {
  #limits: ProjectLimits
  /** Number of entries that are being created, by project and kind. */
  readonly #creating = new Map<string, number>()

  constructor(limits: ProjectLimits) {
    this.#limits = limits
  }

  /** Applies other limits to later creations. */
  change(limits: ProjectLimits): void {
    this.#limits = limits
  }

  /**
   * Runs `create`. Throws `over_quota` if the project already has the maximum number of entries of the kind.
   */
  async within<T>(
    projectId: string,
    kind: keyof ProjectLimits,
    count: () => number,
    create: () => Promise<T>,
  ): Promise<T> {
    const key = `${projectId} ${kind}`
    const limit = this.#limits[kind]
    const creating = this.#creating.get(key) ?? 0
    if (count() + creating >= limit) throw new TrunklineError('over_quota', undefined, { limit })
    this.#creating.set(key, creating + 1)
    try {
      return await create()
    } finally {
      const left = (this.#creating.get(key) ?? 1) - 1
      if (left > 0) this.#creating.set(key, left)
      else this.#creating.delete(key)
    }
  }
}
