/** Maximum wait that a Retry-After can cause, in ms. */
const maxRetryAfterMs = 3_600_000

/**
 * Returns the wait of a Retry-After value, in ms (RFC 3261 section 20.33); undefined if missing or malformed.
 */
export const retryAfterMs = (value: string | undefined): number | undefined => {
  const seconds = /^\s*(\d{1,10})\s*(?:[;(]|$)/.exec(value ?? '')?.[1]
  return seconds === undefined ? undefined : Math.min(Number(seconds) * 1_000, maxRetryAfterMs)
}
