import { type Cause, type Code, sipStatusOf } from '../../core/errors/catalogue.ts'

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
 * Final statuses of a callee that are true of the caller's own request: they say something of the number, of the callee, or of the audio. All
 * others are about our INVITE: its headers, its session timer, its extensions, its challenge. A caller that received one of those would look
 * for a header that is not there (420, 421, 422, 494 …), or repeat a request that nothing is wrong with (400, 481, 491).
 */
const relayed: ReadonlySet<number> = new Set([
  402, 403, 404, 408, 410, 433, 480, 482, 483, 484, 485, 486, 488, 500, 502, 504, 600, 603, 604, 606,
])

/** Statuses for which a caller gets another one than 500: about the description of our offer, or a challenge that we could not answer. */
const replacements: ReadonlyMap<number, number> = new Map([
  [401, 502],
  [407, 502],
  [415, 488],
  [580, 488],
])

/**
 * What a caller is told of a connection that failed. A 503 for one place would keep a carrier from sending us calls to any other: it is passed
 * on as 500, unless it is the gateway that can take no calls (RFC 3261 section 16.7 step 6). So is every status that is about our own INVITE,
 * such as 422, which would need a Min-SE (RFC 4028 section 6). A description of the called side that makes no sense is not the caller's
 * fault: 502 (section 21.5.3).
 */
export const causeForCaller = (cause: Cause): Cause => {
  if (cause.code === 'bad_sdp') return { ...cause, sip: 502 }
  const status = sipStatusOf(cause)
  if (status === 503) return ofAllCalls.has(cause.code) ? cause : { ...cause, sip: 500 }
  if (cause.sip === undefined || relayed.has(cause.sip)) return cause
  return { ...cause, sip: replacements.get(cause.sip) ?? 500 }
}
