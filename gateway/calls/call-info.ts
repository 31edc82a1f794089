import type { CallInfo } from '../../handlers/verbs.ts'
import type { CallId, Leg } from './leg.ts'

/** What is known of a call whose caller's leg is one that we made: `from` is who we said we are, and `to` whom we called. */
export const outboundInfo = (leg: Leg, callId: CallId, projectId: string): CallInfo => ({
  callId,
  direction: 'outbound',
  type: leg.kind === 'sip' ? 'sip' : 'webrtc',
  from: leg.from.uri,
  to: leg.to.uri,
  fromUser: leg.from.user,
  toUser: leg.to.user,
  fromName: leg.from.name,
  headers: [],
  projectId,
})
