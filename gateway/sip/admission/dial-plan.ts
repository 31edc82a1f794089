import type { Arrival } from '../../calls/call-ports.ts'
import { type SipUri, userOf } from '../../core/sip-uri.ts'
import type { SipEndpoint } from '../../directory/types.ts'
import type { AddressBook, Party } from '../../model.ts'

/** What the call of an endpoint is to be handled by, or why it is not. */
export type DialPlan = Arrival['plan'] | { readonly refuse: 'unknown_address' | 'not_permitted' }

/**
 * What an endpoint's call is handled by: its own handler, or whom it dialled. A name is looked for in its own
 * context, then among the public and the private ones; an address or a SIP URI may stand in the user part,
 * escaped. What is no address needs the permission to dial out.
 */
export const planOf = (
  target: Pick<SipUri, 'user'>,
  endpoint: Pick<SipEndpoint, 'projectId' | 'address' | 'mayDialOut' | 'handler'>,
  addresses: AddressBook,
): DialPlan => {
  const { projectId, handler, address, mayDialOut } = endpoint
  if (handler) return { kind: 'handler', handler }
  const dialled = userOf(target)
  const own = address.slice(0, address.lastIndexOf('/'))
  const names = dialled.startsWith('/')
    ? [dialled]
    : [own, '/public', '/private'].map((context) => `${context}/${dialled}`)
  const found = names.find((name) => addresses.resolve(name, projectId))
  if (found !== undefined) return { kind: 'dial', to: found }
  const to = plainNumber(dialled)
  if (to === '' || !addresses.resolve(to, projectId)) return { refuse: 'unknown_address' }
  return mayDialOut ? { kind: 'dial', to } : { refuse: 'not_permitted' }
}

/** The endpoint as whoever it calls is to see it: what its own From says is its own affair. */
export const partyOf = ({
  address: uri,
  callerId: user,
  displayName: name,
  sendAs,
}: Pick<SipEndpoint, 'address' | 'callerId' | 'displayName' | 'sendAs'>): Party => ({
  uri,
  user,
  name,
  ...(sendAs !== undefined && { sendAs }),
})

/**
 * A number as people write it, without what only parts its digits. Anything else stays as it is, and is no
 * number.
 */
const plainNumber = (text: string): string => {
  const plain = text.replace(/[-.() ]/g, '')
  return /^\+?\d{1,32}$/.test(plain) ? plain : text
}
