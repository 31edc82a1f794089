/** Maximum number of remembered keys; the least recently used key is dropped first. */
const maxKeys = 20_000

interface Bucket {
  /** Calls that are permitted now. */
  tokens: number
  /** When that was so. */
  at: number
}

/** Limits of new calls a second, by key, as token buckets of one second. Refused calls do not count. */
export class CallRates {
  readonly #now: () => number
  /** The one that was used last is last. */
  readonly #buckets = new Map<string, Bucket>()

  constructor(now: () => number) {
    this.#now = now
  }

  /** Keys that are remembered; bounded. */
  get size(): number {
    return this.#buckets.size
  }

  /** Whether one more call keeps within `perSecond`. */
  has(key: string, perSecond: number): boolean {
    return this.#tokens(key, perSecond) >= 1
  }

  /** Counts one call. */
  take(key: string, perSecond: number): void {
    const tokens = this.#tokens(key, perSecond) - 1
    this.#buckets.delete(key)
    if (this.#buckets.size >= maxKeys) this.#buckets.delete(this.#buckets.keys().next().value ?? '')
    this.#buckets.set(key, { tokens, at: this.#now() })
  }

  #tokens(key: string, perSecond: number): number {
    const bucket = this.#buckets.get(key)
    if (!bucket) return perSecond
    // A clock that was set back adds no tokens.
    const passed = Math.max(0, this.#now() - bucket.at)
    return Math.min(perSecond, bucket.tokens + (passed * perSecond) / 1_000)
  }
}
