import type { UserVariables } from '../../../handlers/verbs.ts'
import { asRecord, RpcError, rpcCodes } from '../frames.ts'
import { type ReadVariables, readUserVariables } from './user-variables.ts'

/** Parsed `webrtc.verto` request. The browser chose `callId`, or the gateway for an outbound leg. */
export type VertoRequest =
  | {
      readonly kind: 'invite'
      readonly callId: string
      readonly to: string
      readonly sdp: string
      /** Whether a reloaded page resumes its call. */
      readonly isReattaching: boolean
      /** Kind of addition to a present call: a screen, or another camera or microphone. */
      readonly part?: 'screen' | 'device'
      /** Layout and position that a screen wants in a room. */
      readonly layout?: string
      readonly position?: string
      /** Call that the addition belongs to, and the browser's own member in it. */
      readonly parent: { readonly callId?: string; readonly memberId?: string }
      /** Variables for the handler of the call. */
      readonly userVariables?: UserVariables
    }
  | {
      readonly kind: 'answer'
      readonly callId: string
      readonly sdp: string
      /**
       * Variables for the caller, or the fault of invalid ones. Not thrown, because the SDK repeats a failed
       * answer ten times.
       */
      readonly variables: ReadVariables
    }
  | { readonly kind: 'bye'; readonly callId: string; readonly causeCode: number | undefined }
  | { readonly kind: 'info'; readonly callId: string; readonly digits: string }
  | { readonly kind: 'hold'; readonly callId: string; readonly isOn: boolean }
  /** Transfer of the other party to a target (blind). */
  | { readonly kind: 'transfer'; readonly callId: string; readonly to: string }
  /** Addition of a person to the call. */
  | { readonly kind: 'add'; readonly callId: string; readonly to: string }
  /** Transfer of the other party to the other party of a second call (attended). */
  | { readonly kind: 'replace'; readonly callId: string; readonly otherId: string }
  | { readonly kind: 'updateMedia'; readonly callId: string; readonly sdp: string }
  /** Subscription of a page that a push notification opened. */
  | { readonly kind: 'subscribe'; readonly callId: string }
  /** Reply to a message of the gateway; ignored. */
  | { readonly kind: 'reply' }

/** Invite without its offer, which is long and needed once. */
export type Invite = Omit<Extract<VertoRequest, { kind: 'invite' }>, 'sdp'>

/** Message with its id, which the result repeats. */
export interface VertoMessage {
  readonly id: unknown
  readonly request: VertoRequest
}

type Fields = Readonly<Record<string, unknown>>

/** Reads the params of `webrtc.verto`. Throws {@link RpcError} with the name of an invalid field. */
export const parseVerto = (params: Fields): VertoMessage => {
  const message = asRecord(params.message)
  if (!message) throw new RpcError(rpcCodes.params, 'message: expected an object')
  if (typeof message.method !== 'string') {
    if ('result' in message || 'error' in message) return { id: message.id, request: { kind: 'reply' } }
    throw new RpcError(rpcCodes.params, 'message.method: expected a string')
  }
  return { id: message.id, request: requestOf(message.method, asRecord(message.params) ?? {}) }
}

const requestOf = (method: string, params: Fields): VertoRequest => {
  if (method === 'verto.pong') return { kind: 'reply' }
  const dialog = asRecord(params.dialogParams) ?? {}
  if (method === 'verto.subscribe') return { kind: 'subscribe', callId: text(params.sessid, 'sessid', 128) }
  const callId = text(dialog.callID, 'dialogParams.callID', 128)
  if (method === 'verto.invite') return invite(callId, params, dialog)
  if (method === 'verto.answer') return answer(callId, params, dialog)
  if (method === 'verto.bye') return { kind: 'bye', callId, causeCode: number(params.causeCode) }
  if (method === 'verto.info') return { kind: 'info', callId, digits: digitsOf(params.dtmf) }
  if (method === 'verto.modify') return modify(callId, params)
  throw new RpcError(rpcCodes.params, `message.method: ${method.slice(0, 40)} is not known`)
}

const answer = (callId: string, params: Fields, dialog: Fields): VertoRequest => ({
  kind: 'answer',
  callId,
  sdp: text(params.sdp, 'sdp'),
  variables: readUserVariables(dialog.userVariables),
})

const invite = (callId: string, params: Fields, dialog: Fields): VertoRequest => ({
  kind: 'invite',
  callId,
  to: text(dialog.destination_number, 'dialogParams.destination_number', 1024),
  sdp: text(params.sdp, 'sdp'),
  isReattaching: dialog.attach === true && dialog.reattaching === true,
  ...(dialog.screenShare === true && { part: 'screen' }),
  ...(dialog.additionalDevice === true && { part: 'device' }),
  ...placeOf(params),
  parent: parentOf(asRecord(dialog.userVariables) ?? {}),
  ...variablesOf(dialog),
})

const variablesOf = ({ userVariables }: Fields): { readonly userVariables?: UserVariables } => {
  const read = readUserVariables(userVariables)
  if ('fault' in read) throw new RpcError(rpcCodes.params, read.fault)
  return read.variables ? { userVariables: read.variables } : {}
}

const placeOf = ({ layout, positions }: Fields): { readonly layout?: string; readonly position?: string } => {
  const position = asRecord(positions)?.self
  return {
    ...(typeof layout === 'string' && { layout }),
    ...(typeof position === 'string' && { position }),
  }
}

const parentOf = ({ memberCallId: callId, memberId }: Fields) => ({
  ...(typeof callId === 'string' && { callId }),
  ...(typeof memberId === 'string' && { memberId }),
})

const modify = (callId: string, params: Fields): VertoRequest => {
  const { action } = params
  if (action === 'hold' || action === 'unhold') return { kind: 'hold', callId, isOn: action === 'hold' }
  if (action === 'updateMedia') return { kind: 'updateMedia', callId, sdp: text(params.sdp, 'sdp') }
  if (action === 'transfer' || action === 'add')
    return { kind: action, callId, to: text(params.destination, 'destination', 1024) }
  if (action === 'replace')
    return { kind: 'replace', callId, otherId: text(params.replaceCallID, 'replaceCallID', 128) }
  throw new RpcError(rpcCodes.params, 'action: expected hold, unhold, transfer, replace, add or updateMedia')
}

/** Returns the valid DTMF digits; pauses and other characters are dropped. */
const digitsOf = (value: unknown): string =>
  text(value, 'dtmf', 128)
    .toUpperCase()
    .replace(/[^0-9*#A-D]/g, '')

const text = (value: unknown, field: string, maxLength = Number.POSITIVE_INFINITY): string => {
  if (typeof value === 'string' && value !== '' && value.length <= maxLength) return value
  const limit = Number.isFinite(maxLength) ? ` of at most ${maxLength} characters` : ''
  throw new RpcError(rpcCodes.params, `${field}: expected a string${limit}`)
}

/** Reads a number; the browser SDK sends numbers as strings. */
const number = (value: unknown): number | undefined => {
  const parsed = typeof value === 'string' ? Number.parseInt(value, 10) : value
  return typeof parsed === 'number' && Number.isFinite(parsed) ? parsed : undefined
}
