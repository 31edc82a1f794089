/** Most keys whose rates are remembered; the one that was not used for longest goes first. */
const maxKeys = 20_000

interface Bucket {
  /** Calls that may come now. */
  tokens: number
  /** When that was so. */
  at: number
}

/**
 * New calls a second, by key. A second's worth may come at once, and more as time goes on; what was refused
 * does not count.
 */
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
    // A clock that was set back gives nothing.
    const passed = Math.max(0, this.#now() - bucket.at)
    return Math.min(perSecond, bucket.tokens + (passed * perSecond) / 1_000)
  }
}
