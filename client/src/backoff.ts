/** Delays between attempts to reconnect, in milliseconds. */
export interface BackoffOptions {
  /** Upper bound of the first delay. */
  readonly first: number
  /** Maximum delay. */
  readonly longest: number
  /** Returns a number in [0, 1), like Math.random. */
  readonly random: () => number
}

/**
 * Returns the delay before attempt `attempt` (0 is the first).
 * It doubles with each attempt and is spread over its upper half, so that clients of a restarted server do
 * not all return at once.
 */
export const backoff = (attempt: number, { first, longest, random }: BackoffOptions): number => {
  const bound = Math.min(longest, first * 2 ** Math.min(attempt, 30))
  return Math.round(bound / 2 + (bound / 2) * random())
}
