import { type Cause, sipStatusOf } from '../errors.ts'

/** Statuses of the 4xx class that say what the caller could do better (RFC 3261 section 16.7 step 6). */
const telling = new Set([401, 407, 415, 420, 484])

/**
 * Which of two refusals the caller is told where several were called: one that speaks for every place (6xx), else one of the lowest class,
 * and of two that are alike the later one (RFC 3261 section 16.7). A busy telephone counts for more than one that could not be reached.
 */
export const betterCause = (before: Cause | undefined, now: Cause): Cause =>
  before && rank(before) < rank(now) ? before : now

const rank = (cause: Cause): number => {
  const status = sipStatusOf(cause)
  if (status >= 600) return 0
  if (status >= 500) return 4
  if (status < 400) return 1
  return telling.has(status) ? 2 : 3
}
