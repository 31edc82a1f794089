import type { InboundPlan } from '../../calls/call/arrival.ts'
import { type SipUri, userOf } from '../../core/sip-uri.ts'
import type { SipEndpoint } from '../../directory/model/callers.ts'
import type { AddressBook, Party } from '../../model.ts'

/** Plan of an endpoint's call, or why the call is rejected. */
export type DialPlan = InboundPlan | { readonly refuse: 'unknown_address' | 'not_permitted' }

/**
 * Returns the plan of an endpoint's call: its own handler, or the dialled address. A name is looked up in the
 * endpoint's own context, then in `/public` and `/private`. The user part may also hold an escaped address or
 * SIP URI. Other targets need the permission to dial out.
 */
export const planEndpointCall = (
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

/** Returns the endpoint as callees see it. Its From header has no effect. */
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

/** Returns a number without its visual separators. Other text stays unchanged. */
const plainNumber = (text: string): string => {
  const plain = text.replace(/[-.() ]/g, '')
  return /^\+?\d{1,32}$/.test(plain) ? plain : text
}
