import { TrunklineError } from '../../core/errors/catalogue.ts'

/**
 * Counts resources in creation together with existing ones, so that simultaneous requests cannot exceed a
 * limit.
 */
export class Quotas {
  /** Number of resources in creation, by project and kind. */
  #making = new Map<string, number>()

  /** Throws `over_quota` if there are `limit` resources of the kind already. */
  async within<T>(key: string, limit: number, count: () => number, make: () => Promise<T>): Promise<T> {
    const making = this.#making.get(key) ?? 0
    if (count() + making >= limit) throw new TrunklineError('over_quota', undefined, { limit })
    this.#making.set(key, making + 1)
    try {
      return await make()
    } finally {
      const left = (this.#making.get(key) ?? 1) - 1
      if (left > 0) this.#making.set(key, left)
      else this.#making.delete(key)
    }
  }
}
