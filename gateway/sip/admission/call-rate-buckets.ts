import { fullTokenBucket, type TokenBucket, tokensIn } from '@trunkline/sip-agent/token-bucket'

/** Maximum number of remembered keys; the least recently used key is dropped first. */
const maxKeys = 20_000

/** Limits of new calls per second, by key, as token buckets of one second. Rejected calls do not count. */
export class CallRateBuckets {
  readonly #now: () => number
  /** In the order of their last use. */
  readonly #buckets = new Map<string, TokenBucket>()

  constructor(now: () => number) {
    this.#now = now
  }

  /** Number of remembered keys; bounded. */
  get size(): number {
    return this.#buckets.size
  }

  /** Whether one more call stays within `perSecond`. */
  has(key: string, perSecond: number): boolean {
    return this.#tokens(key, perSecond, this.#now()) >= 1
  }

  /** Counts one call. */
  take(key: string, perSecond: number): void {
    const now = this.#now()
    const tokens = this.#tokens(key, perSecond, now) - 1
    this.#buckets.delete(key)
    if (this.#buckets.size >= maxKeys) this.#buckets.delete(this.#buckets.keys().next().value ?? '')
    this.#buckets.set(key, { tokens, at: now })
  }

  #tokens(key: string, perSecond: number, now: number): number {
    return tokensIn(this.#buckets.get(key) ?? fullTokenBucket(now), perSecond, now)
  }
}
