import type { Destination } from '../../../handlers/verbs.ts'
import type { Party } from '../../model.ts'
import type { Call } from '../call/call.ts'
import type { Leg } from '../leg/leg.ts'
import type { OutboundRequest } from '../leg/outbound-request.ts'
import type { Referral } from '../leg/referral.ts'
import type { Branch } from './branch.ts'

/** Returns the name in `queue:<name>`; undefined for any other destination. */
export const queueNameOf = (to: string): string | undefined => /^queue:(.+)$/s.exec(to)?.[1]

/**
 * Returns a dialed text without the headers of a SIP URI. Headers are for documents: a person who dials must
 * not set the caller's identity with them (P-Asserted-Identity, Diversion, Privacy).
 */
export const withoutHeaders = (to: string): string => {
  const headers = to.indexOf('?', to.lastIndexOf('@') + 1)
  return headers >= 0 && /^\s*sips?:/i.test(to) ? to.slice(0, headers) : to
}

/** Destination, with the call id of its branch. */
type Dialled = Pick<Branch, 'destination' | 'callId'>

/** Returns the destination with all headers of its INVITE. */
export const withHeaders = ({ destination, callId }: Dialled): Destination => {
  const { headers = [], headersFor } = destination
  return headersFor ? { ...destination, headers: [...headers, ...headersFor(callId)] } : destination
}

/**
 * Returns the request for the legs of a branch. The caller identity is taken from the document, or from the
 * call if the document sets none.
 */
export const requestFor = (branch: Dialled, { caller, id, info }: Call): OutboundRequest => {
  const { maxForwards, lineage } = caller.facts
  const destination = withHeaders(branch)
  const from = destination.from ? partyOf(destination.from, destination.fromName ?? '') : caller.from
  return {
    destination,
    projectId: info.projectId,
    callId: id,
    calleeId: branch.callId,
    codec: caller.port?.codec ?? 'PCMU',
    from,
    caller,
    forwarded: info.headers.filter(({ name }) => /^(diversion|history-info)$/i.test(name)),
    ...(maxForwards !== undefined && { maxForwards: maxForwards - 1 }),
    ...(lineage && { originId: lineage.origin }),
  }
}

/** Returns the party of a SIP URI, a number, or an address. */
export const partyOf = (text: string, name: string): Party => {
  const user = /^sips?:([^@:;?]+)(?::[^@]*)?@/i.exec(text)?.[1] ?? text.split('/').at(-1) ?? text
  return { uri: text, user, name }
}

/** Returns the destination of a transfer. Its caller is the party that stays, which may be a callee. */
export const referralDestination = (
  { to, referredBy }: Referral,
  { direction, to: called }: Leg,
): Destination => ({
  to,
  ...(direction === 'outbound' && { from: called.uri, fromName: called.name }),
  ...(referredBy !== undefined && { headers: [{ name: 'Referred-By', value: referredBy }] }),
})
