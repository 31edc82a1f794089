/**
 * A map of bounded size that forgets what was not used lately. It keeps two generations: what is used moves to the young one, and when
 * that is full the old one is forgotten as a whole. So neither looking up nor forgetting costs more, however many addresses are sent at us.
 */
export class RecentMap<V extends {}> {
  readonly #half: number
  #young = new Map<string, V>()
  #old = new Map<string, V>()

  /** `limit`: most entries. */
  constructor(limit: number) {
    this.#half = Math.max(1, Math.floor(limit / 2))
  }

  /** Entries at the moment, with those that are about to be forgotten. */
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
