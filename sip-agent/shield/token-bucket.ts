/** Token bucket of a rate limit; holds at most the tokens of one second. */
export interface TokenBucket {
  tokens: number
  /** Time of the count in ms. */
  at: number
}

/** Returns a full bucket for any rate: tokens beyond the size of the bucket are removed at its first use. */
export const fullTokenBucket = (now: number): TokenBucket => ({ tokens: Number.MAX_SAFE_INTEGER, at: now })

/** Returns the tokens of a bucket that is refilled at `perSecond`. A clock that was set back adds none. */
export const tokensIn = ({ tokens, at }: TokenBucket, perSecond: number, now: number): number =>
  Math.min(perSecond, tokens + (Math.max(0, now - at) * perSecond) / 1_000)

/**
 * Takes `price` tokens, or all if the rate is smaller, from a bucket that is refilled at `perSecond`. Returns
 * false, and takes nothing, if there are too few.
 */
export const takeTokens = (bucket: TokenBucket, perSecond: number, now: number, price = 1): boolean => {
  bucket.tokens = tokensIn(bucket, perSecond, now)
  bucket.at = now
  const due = Math.min(price, perSecond)
  if (bucket.tokens < due) return false
  bucket.tokens -= due
  return true
}
