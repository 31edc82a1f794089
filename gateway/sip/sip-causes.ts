import { notPermitted } from '@trunkline/sip-agent'
import { type Cause, type Code, catalogue, sipStatusOf } from '../core/errors/catalogue.ts'
import { printable, q850In } from './headers.ts'
import type { Refusal } from './srf.ts'

/** Final statuses above 399 that drachtio-srf can send; it throws for any other. */
const sendable = new Set([
  400, 402, 403, 404, 405, 406, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417, 420, 421, 422, 423, 424,
  428, 429, 430, 433, 436, 437, 438, 439, 470, 480, 481, 482, 483, 484, 485, 486, 487, 488, 489, 491, 493,
  494, 500, 501, 502, 503, 504, 505, 513, 580, 600, 603, 604, 606,
])

/**
 * Returns the status that rejects an unanswered call. The catalogue's status replaces a challenge (401, 407)
 * or a redirection by another carrier, which the caller could not use.
 */
export const refusalStatus = (cause: Cause): number => {
  const wanted = [sipStatusOf(cause), catalogue[cause.code].sip]
  return wanted.find((status) => sendable.has(status)) ?? 403
}

/**
 * Returns the agent's reason why no target could be reached, such as a certificate for another name;
 * undefined if the agent gives none.
 */
export const problemOf = ({ res }: Pick<Refusal, 'res'>): string | undefined => {
  if (res?.source_address !== '') return undefined
  const [, text] = /^399 \S+ "([^"]+)"$/.exec(res.get('Warning') ?? '') ?? []
  return text && printable(text)
}

/** Returns the cause of a rejected outbound INVITE. `rang`: a provisional response came before. */
export const causeOfRefusal = (refusal: Refusal, rang: boolean): Cause => {
  const { status, reason } = refusal
  const objection = status === undefined ? objectionOf(refusal.message) : undefined
  if (objection !== undefined) return { code: 'not_permitted', detail: objection }
  if (status === undefined)
    return { code: 'unreachable', detail: printable(refusal.message ?? String(refusal)) }
  const detail = `${status} ${printable(reason ?? '', 64)}`.trim()
  // The agent makes 408 and 503 itself when no target is reachable; such a response has no source address.
  const local = refusal.res?.source_address === ''
  if (local && (status === 408 || status === 503)) {
    if (rang && status === 408) return { code: 'no_answer', detail }
    return {
      code: 'unreachable',
      detail: problemOf(refusal) ?? detail,
      // RFC 3261 section 8.1.3.1.
      ...(status === 408 && { sip: status }),
    }
  }
  const q850 = q850In(refusal.res?.get('Reason'))
  // A status below 400 is a redirection that is not followed, or a success without a dialog. Neither can be
  // relayed to a caller.
  return {
    code: codeOfStatus(status),
    detail,
    ...(status >= 400 && { sip: status }),
    ...(q850 !== undefined && { q850 }),
  }
}

/** Returns the reason why the agent must not send to the address of a host; undefined for other messages. */
const objectionOf = (message = ''): string | undefined => {
  const start = message.indexOf(notPermitted)
  return start < 0 ? undefined : printable(message.slice(start + notPermitted.length))
}

const codeOfStatus = (status: number): Code => {
  if (status === 486 || status === 600) return 'busy'
  if (status === 603) return 'declined'
  return status === 408 || status === 480 ? 'no_answer' : 'far_refused'
}

/**
 * Returns the cause of the end of a dialog. `reason`: reason from drachtio-srf, which is `normal release` or
 * the agent's reason for its own BYE. `said`: value of the Reason header of a BYE.
 */
export const causeOfBye = (reason: string | undefined, said?: string): Cause =>
  reason === undefined || reason === 'normal release'
    ? { code: 'normal', ...detailOf(said) }
    : { code: 'unreachable', detail: printable(reason) }

/** Returns the cause of a CANCEL with this Reason. The agent also reports a missing PRACK as a CANCEL. */
export const causeOfCancel = (said: string | undefined): Cause =>
  said === prackTimeout
    ? { code: 'unreachable', detail: 'no PRACK in time' }
    : { code: 'canceled', ...detailOf(said) }

/** Reason with which the embedded agent reports a call that it has rejected with 504. */
const prackTimeout = 'SIP;cause=504'

const detailOf = (said: string | undefined): Pick<Cause, 'detail'> =>
  said ? { detail: printable(said) } : {}
