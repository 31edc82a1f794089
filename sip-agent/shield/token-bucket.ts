/** What may still come of something that has a rate: a token bucket, which holds what comes in a second. */
export interface TokenBucket {
  tokens: number
  /** When there were so many, in ms. */
  at: number
}

/** A bucket to the brim, whatever its size: what is too much is taken off at its first use. */
export const fullTokenBucket = (now: number): TokenBucket => ({ tokens: Number.MAX_SAFE_INTEGER, at: now })

/**
 * Takes `price` tokens, or all where the rate is smaller, out of a bucket that `perSecond` run into. False where there are too few, and
 * nothing is taken.
 */
export const takeTokens = (bucket: TokenBucket, perSecond: number, now: number, price = 1): boolean => {
  // A clock that was set back gives nothing.
  const passed = Math.max(0, now - bucket.at)
  bucket.tokens = Math.min(perSecond, bucket.tokens + (passed * perSecond) / 1_000)
  bucket.at = now
  const due = Math.min(price, perSecond)
  if (bucket.tokens < due) return false
  bucket.tokens -= due
  return true
}
