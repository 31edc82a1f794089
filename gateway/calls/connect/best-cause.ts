import { type Cause, type Code, sipStatusOf } from '../../core/errors/catalogue.ts'

/** Statuses of the 4xx class that tell the caller how to mend the request (RFC 3261 section 16.7 step 6). */
const correctable = new Set([401, 407, 415, 420, 484])

/**
 * Returns the better of two rejections for the caller (RFC 3261 section 16.7). A 6xx is the best, as it holds
 * for every branch. Otherwise the lowest class is better, and of two equal causes the later one. Busy is
 * better than unreachable.
 */
export const betterCause = (before: Cause | undefined, now: Cause): Cause =>
  before && rank(before) < rank(now) ? before : now

const rank = (cause: Cause): number => {
  const status = sipStatusOf(cause)
  if (status >= 600) return 0
  if (status >= 500 || cause.code === 'unreachable') return 4
  if (status < 400) return 1
  return correctable.has(status) ? 2 : 3
}

/** Codes for states in which the gateway can make no calls at all. */
const gatewayWide: ReadonlySet<Code> = new Set(['no_ports', 'overloaded', 'draining', 'control_lost'])

/**
 * Final statuses of a callee that apply to the caller's own request: they concern the number, the callee, or
 * the audio. Other statuses concern the gateway's INVITE: its headers, session timer, extensions, or
 * credentials. They would mislead the caller (420, 421, 422, 494 …), or make the caller repeat a correct
 * request (400, 481, 491).
 */
const relayed: ReadonlySet<number> = new Set([
  402, 403, 404, 408, 410, 433, 480, 482, 483, 484, 485, 486, 488, 500, 502, 504, 600, 603, 604, 606,
])

/**
 * Statuses that are replaced, but not by 500: they concern the gateway's offer, or an unanswered challenge.
 */
const replacements: ReadonlyMap<number, number> = new Map([
  [401, 502],
  [407, 502],
  [415, 488],
  [580, 488],
])

/**
 * Returns the cause of a failed connection for the caller. A callee's 503 becomes 500, as a 503 would make
 * the calling carrier stop all calls (RFC 3261 section 16.7 step 6). A 503 of the gateway itself stays. A
 * status about the gateway's INVITE becomes 500, too: a 422, for example, would need a Min-SE (RFC 4028
 * section 6). An unusable description of the callee becomes 502 (section 21.5.3).
 */
export const causeForCaller = (cause: Cause): Cause => {
  if (cause.code === 'bad_sdp') return { ...cause, sip: 502 }
  const status = sipStatusOf(cause)
  if (status === 503) return gatewayWide.has(cause.code) ? cause : { ...cause, sip: 500 }
  if (cause.sip === undefined || relayed.has(cause.sip)) return cause
  return { ...cause, sip: replacements.get(cause.sip) ?? 500 }
}
