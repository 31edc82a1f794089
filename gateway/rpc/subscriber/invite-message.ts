import type { Leg } from '../../calls/leg/leg.ts'
import { nameOf } from './displayed-party.ts'

/** Returns the params of `verto.invite` for a ringing call. */
export const inviteOf = ({ from, to }: Pick<Leg, 'from' | 'to'>, callID: string, sdp: string) => {
  const { name, number } = nameOf(from)
  return {
    callID,
    sdp,
    caller_id_name: name,
    caller_id_number: number,
    callee_id_name: to.name,
    callee_id_number: to.uri,
    display_direction: 'outbound',
  }
}

/** Returns a Verto event for a push notification, as the SDK's `handlePushNotification` reads it. */
export const deviceEvent = (
  nodeId: string,
  method: string,
  params: object,
): Readonly<Record<string, unknown>> => {
  const message = { jsonrpc: '2.0', id: 1, method, params }
  return { event_type: 'webrtc.message', node_id: nodeId, params: message }
}
