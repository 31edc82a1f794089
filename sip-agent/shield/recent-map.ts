/**
 * Map of bounded size that drops entries that were not used recently. It has two generations: a used entry
 * moves to the young one, and when that is full, the old one is dropped as a whole. So the cost of access and
 * removal does not grow with the number of addresses.
 */
export class RecentMap<V extends {}> {
  readonly #half: number
  #young = new Map<string, V>()
  #old = new Map<string, V>()

  /** `limit`: maximum number of entries. */
  constructor(limit: number) {
    this.#half = Math.max(1, Math.floor(limit / 2))
  }

  /** Number of entries, including those that will be dropped next. */
  get size(): number {
    return this.#young.size + this.#old.size
  }

  get(key: string): V | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young
    const old = this.#old.get(key)
    if (old === undefined) return undefined
    this.#old.delete(key)
    this.set(key, old)
    return old
  }

  set(key: string, value: V): void {
    this.#old.delete(key)
    if (this.#young.size >= this.#half && !this.#young.has(key)) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(key, value)
  }

  delete(key: string): void {
    this.#young.delete(key)
    this.#old.delete(key)
  }
}
