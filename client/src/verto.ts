import type { CallState } from './call-state.ts'
import type { ClientError } from './errors.ts'
import type { Json } from './frames.ts'

/** What the client delivers messages of the server to, by its id: a call, or a screen that is shared. */
export interface VertoPeer {
  readonly id: string
  /** A verto message for it. */
  receive(method: string, params: Json, nodeId: string | undefined): void
  /** The connection to the server was lost, or is back. */
  connectionChanged(up: boolean): void
  /** The browser is on another network. */
  networkChanged(): void
  /** It is over, and the server knows nothing of it any more. */
  drop(reason: ClientError): void
}

/** The ways in which a call speaks to the server; the client implements them over its session. */
export interface CallSignalling {
  readonly iceServers: readonly RTCIceServer[]
  /** Whether there is a connection to the server now. Requests wait for it. */
  readonly isConnected: boolean
  /** Sends a verto message in a `webrtc.verto` request. */
  verto(method: string, params: Json, call: { readonly id: string; readonly nodeId?: string }): Promise<Json>
  /** Sends a `call.…` request. */
  request(method: string, params: Json): Promise<Json>
  /** The call's state changed. */
  changed(call: { readonly id: string; readonly to: string; readonly state: CallState }): void
  /** From now on messages with its id are delivered. */
  add(peer: VertoPeer): void
  /** It is over: nothing is delivered to it any more. */
  gone(id: string): void
}

/** What the server is to know of a call, with each message. */
export interface Dialog {
  readonly callID: string
  /** The number dialled; answers carry the word `room`, as the service's own library does. */
  readonly to: string
  readonly userVariables?: Readonly<Record<string, unknown>>
  /** The call goes on already, and a page that was loaded anew takes it over. */
  readonly reattaching?: boolean
  /** It carries a screen, beside a call. */
  readonly screenShare?: boolean
}

/** `dialogParams` of a verto message. */
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

/** Events that the client wants of a call, named in the request that sets it up. */
export const subscriptions: readonly string[] = [
  'call.state',
  'call.joined',
  'call.left',
  'call.updated',
  'call.play',
  'call.connect',
  'call.room',
  'member.joined',
  'member.left',
  'member.updated',
  'member.talking',
  'layout.changed',
]

/** The `causeCode` of a `verto.bye`, which comes as a number or as a text. */
export const causeCodeOf = (value: unknown): string | undefined =>
  typeof value === 'number' || typeof value === 'string' ? String(value) : undefined
