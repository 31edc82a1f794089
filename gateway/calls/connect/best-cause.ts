import { type Cause, type Code, sipStatusOf } from '../../core/errors/catalogue.ts'

/** Statuses of the 4xx class that tell the caller how to mend the request (RFC 3261 section 16.7 step 6). */
const correctable = new Set([401, 407, 415, 420, 484])

/**
 * Returns the better of two refusals for the caller (RFC 3261 section 16.7). A 6xx comes first, as it speaks
 * for every branch; then the lowest class; of equals the later one. Busy comes before unreachable.
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

/** Codes that keep the gateway from making any call. */
const gatewayWide: ReadonlySet<Code> = new Set(['no_ports', 'overloaded', 'draining', 'control_lost'])

/**
 * Final statuses of a callee that hold for the caller's own request: about the number, the callee, or the
 * audio. Others are about the gateway's INVITE: its headers, its session timer, its extensions, its
 * challenge. They would mislead the caller (420, 421, 422, 494 …), or make it repeat a correct request (400,
 * 481, 491).
 */
const relayed: ReadonlySet<number> = new Set([
  402, 403, 404, 408, 410, 433, 480, 482, 483, 484, 485, 486, 488, 500, 502, 504, 600, 603, 604, 606,
])

/**
 * Statuses that a caller receives as another one than 500: about the gateway's offer, or a challenge without
 * an answer.
 */
const replacements: ReadonlyMap<number, number> = new Map([
  [401, 502],
  [407, 502],
  [415, 488],
  [580, 488],
])

/**
 * Returns the cause of a failed connection for the caller. A 503 of one callee becomes 500, as it would keep
 * a carrier from sending any call (RFC 3261 section 16.7 step 6). A 503 of the gateway itself stays. A status
 * about the gateway's INVITE becomes 500, too, such as 422, which would need a Min-SE (RFC 4028 section 6). A
 * bad description of the callee is not the caller's fault: 502 (section 21.5.3).
 */
export const causeForCaller = (cause: Cause): Cause => {
  if (cause.code === 'bad_sdp') return { ...cause, sip: 502 }
  const status = sipStatusOf(cause)
  if (status === 503) return gatewayWide.has(cause.code) ? cause : { ...cause, sip: 500 }
  if (cause.sip === undefined || relayed.has(cause.sip)) return cause
  return { ...cause, sip: replacements.get(cause.sip) ?? 500 }
}
