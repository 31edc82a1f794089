import type { CallState } from './call-state.ts'
import { type ClientError, endOf } from './errors.ts'
import { type Json, text } from './frames.ts'

/** Receiver of the server's messages for one id: a call, or a shared screen. */
export interface VertoPeer {
  readonly id: string
  /** Handles a verto message. */
  receive(method: string, params: Json, nodeId: string | undefined): void
  /** Handles the return (`up`) or loss of the connection to the server. */
  connectionChanged(up: boolean): void
  /** Handles a change of network. */
  networkChanged(): void
  /** Ends the call or screen, which the server no longer has. */
  drop(reason: ClientError): void
}

/** Signalling of a call; the client implements it over its session. */
export interface CallSignalling {
  readonly iceServers: readonly RTCIceServer[]
  /** Whether the server is connected. Requests wait for the connection. */
  readonly isConnected: boolean
  /** Sends a verto message in a `webrtc.verto` request. */
  verto(method: string, params: Json, call: { readonly id: string; readonly nodeId?: string }): Promise<Json>
  /** Sends a `call.…` request. */
  request(method: string, params: Json): Promise<Json>
  /** Handles a change of the call's state. */
  changed(call: { readonly id: string; readonly to: string; readonly state: CallState }): void
  /** Starts the delivery of messages with the peer's id. */
  add(peer: VertoPeer): void
  /** Stops the delivery of messages for an id. */
  gone(id: string): void
}

/** Description of a call for the server, sent with each message. */
export interface Dialog {
  readonly callID: string
  /** Number dialled; answers carry the word `room`, as the service's own library does. */
  readonly to: string
  readonly userVariables?: Readonly<Record<string, unknown>>
  /** Whether a reloaded page takes over a running call. */
  readonly reattaching?: boolean
  /** Whether the message is for a shared screen beside a call. */
  readonly screenShare?: boolean
}

/** Returns the `dialogParams` of a verto message. */
export const dialogParams = (dialog: Dialog): Json => ({
  attach: dialog.reattaching ?? false,
  reattaching: dialog.reattaching ?? false,
  ...(dialog.userVariables && { userVariables: dialog.userVariables }),
  screenShare: dialog.screenShare ?? false,
  additionalDevice: false,
  pingSupported: true,
  version: 1000,
  callID: dialog.callID,
  destination_number: dialog.to,
  remote_caller_id_name: 'Outbound Call',
  remote_caller_id_number: '',
  caller_id_name: '',
  caller_id_number: '',
})

/** Events of a call that the client requests when it sets up the call. */
export const subscriptions: readonly string[] = [
  'call.state',
  'call.joined',
  'call.left',
  'call.updated',
  'call.play',
  'call.connect',
  'call.room',
  'call.transfer',
  'call.add',
  'call.tracks',
  'member.joined',
  'member.left',
  'member.updated',
  'member.talking',
  'layout.changed',
]

/** Returns the reason of a call's end, from the params of a `verto.bye`. */
export const endOfBye = ({ cause, causeCode, reason }: Json): ClientError =>
  endOf(text(cause), typeof causeCode === 'number' ? String(causeCode) : text(causeCode), text(reason))
