import type { CallState } from './call-state.ts'
import type { Json } from './frames.ts'

/** The ways in which a call speaks to the server; the client implements them over its session. */
export interface CallSignalling {
  readonly iceServers: readonly RTCIceServer[]
  /** Sends a verto message in a `webrtc.verto` request. */
  verto(method: string, params: Json, call: { readonly id: string; readonly nodeId?: string }): Promise<Json>
  /** Sends a `call.…` request. */
  request(method: string, params: Json): Promise<Json>
  /** The call's state changed. */
  changed(call: { readonly id: string; readonly to: string; readonly state: CallState }): void
  /** The call is over: nothing is delivered to it any more. */
  gone(id: string): void
}

/** `dialogParams` of a verto message. `to` is the number dialled; answers carry the word `room`, as the service's own library does.
 * `reattaching`: the call goes on already, and a page that was loaded anew takes it over. */
export const dialogParams = (
  callID: string,
  to: string,
  userVariables: Readonly<Record<string, unknown>> | undefined,
  reattaching = false,
): Json => ({
  attach: reattaching,
  reattaching,
  ...(userVariables && { userVariables }),
  screenShare: false,
  additionalDevice: false,
  pingSupported: true,
  version: 1000,
  callID,
  destination_number: to,
  remote_caller_id_name: 'Outbound Call',
  remote_caller_id_number: '',
  caller_id_name: '',
  caller_id_number: '',
})

/** Events that the client wants of a call, named in the request that sets it up. */
export const subscriptions: readonly string[] = [
  'call.state',
  'call.joined',
  'call.left',
  'call.updated',
  'call.play',
  'call.connect',
  'member.updated',
  'member.talking',
]
