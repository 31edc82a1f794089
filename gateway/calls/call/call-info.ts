import type { CallInfo } from '../../../handlers/verbs.ts'
import { parseSipUri, shownUri } from '../../core/sip-uri.ts'
import type { Leg } from '../leg/leg.ts'
import type { Arrival } from './arrival.ts'

/**
 * Returns the facts about a call from its caller's leg. The `from` of an outbound call is the identity that
 * the gateway has sent. `called`: dialed text; default: the dialed text of the leg.
 */
export const infoOf = ({
  leg,
  callId,
  projectId,
  headers,
  userVariables,
  sip,
  called,
}: Pick<Arrival, 'callId' | 'projectId' | 'headers' | 'userVariables' | 'sip'> & {
  readonly leg: Leg
  readonly called?: string
}): CallInfo => ({
  callId,
  direction: leg.direction,
  type: leg.type,
  from: leg.from.uri,
  to: called === undefined ? leg.to.uri : shownUri(called),
  fromUser: leg.from.user,
  toUser: leg.to.user,
  fromName: leg.from.name,
  headers,
  ...(userVariables && { userVariables }),
  projectId,
  ...sipOf(leg, sip),
})

/** Returns the given facts, or those of the INVITE of an outbound leg. */
const sipOf = ({ direction, facts, to }: Leg, sip: Arrival['sip']): Pick<CallInfo, 'sip'> => {
  if (sip) return { sip }
  const { sipCallId: callId } = facts
  const domain = parseSipUri(to.uri)?.host
  if (direction === 'inbound' || callId === undefined || domain === undefined) return {}
  return { sip: { callId, domain } }
}
