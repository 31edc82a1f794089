import type { CallInfo } from '../../handlers/verbs.ts'
import type { Leg } from './leg.ts'
import type { Arrival } from './ports.ts'

/** What is known of a call from its caller's leg; of one that we made, `from` is who we said we are, and `to` whom we called. */
export const infoOf = ({
  leg,
  callId,
  projectId,
  headers,
  sip,
}: Pick<Arrival, 'callId' | 'projectId' | 'headers' | 'sip'> & { readonly leg: Leg }): CallInfo => ({
  callId,
  direction: leg.direction,
  type: leg.kind === 'sip' ? 'sip' : 'webrtc',
  from: leg.from.uri,
  to: leg.to.uri,
  fromUser: leg.from.user,
  toUser: leg.to.user,
  fromName: leg.from.name,
  headers,
  projectId,
  ...(sip && { sip }),
})
