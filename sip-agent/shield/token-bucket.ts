/** Token bucket of a rate limit; holds at most the tokens of one second. */
export interface TokenBucket {
  tokens: number
  /** Time of the count in ms. */
  at: number
}

/** Returns a full bucket of any size: the excess is removed at its first use. */
export const fullTokenBucket = (now: number): TokenBucket => ({ tokens: Number.MAX_SAFE_INTEGER, at: now })

/**
 * Takes `price` tokens, or all if the rate is smaller, from a bucket that is refilled at `perSecond`. Returns
 * false, and takes nothing, if there are too few.
 */
export const takeTokens = (bucket: TokenBucket, perSecond: number, now: number, price = 1): boolean => {
  // A clock that was set back adds no tokens.
  const passed = Math.max(0, now - bucket.at)
  bucket.tokens = Math.min(perSecond, bucket.tokens + (passed * perSecond) / 1_000)
  bucket.at = now
  const due = Math.min(price, perSecond)
  if (bucket.tokens < due) return false
  bucket.tokens -= due
  return true
}
