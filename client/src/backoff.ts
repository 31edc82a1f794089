/** Waits between attempts to reconnect, in milliseconds. */
export interface BackoffOptions {
  /** The first wait's upper bound. */
  readonly first: number
  /** No wait is longer. */
  readonly longest: number
  /** A number in [0, 1), as Math.random gives. */
  readonly random: () => number
}

/**
 * The wait before attempt `attempt` (0 is the first): doubled each time, and spread over the upper half so that the clients of a
 * restarted server do not all return at once.
 */
export const backoff = (attempt: number, { first, longest, random }: BackoffOptions): number => {
  const bound = Math.min(longest, first * 2 ** Math.min(attempt, 30))
  return Math.round(bound / 2 + (bound / 2) * random())
}
