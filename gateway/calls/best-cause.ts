import { type Cause, type Code, sipStatusOf } from '../errors.ts'

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
  if (status >= 500 || cause.code === 'unreachable') return 4
  if (status < 400) return 1
  return telling.has(status) ? 2 : 3
}

/** What keeps the gateway from any call, and not from one alone. */
const ofAllCalls: ReadonlySet<Code> = new Set(['no_ports', 'overloaded', 'draining', 'control_lost'])

/**
 * What a caller is told of a connection that failed. A 503 for one place would keep a carrier from sending us calls to any other: it is passed
 * on as 500, unless it is the gateway that can take no calls (RFC 3261 section 16.7 step 6). A description of the called side that makes no
 * sense is not the caller's fault: 502 (section 21.5.3).
 */
export const toldCaller = (cause: Cause): Cause => {
  if (cause.code === 'bad_sdp') return { ...cause, sip: 502 }
  return sipStatusOf(cause) === 503 && !ofAllCalls.has(cause.code) ? { ...cause, sip: 500 } : cause
}
