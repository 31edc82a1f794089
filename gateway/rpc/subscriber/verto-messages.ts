import type { UserVariables } from '../../../handlers/verbs.ts'
import { asRecord, RpcError, rpcCodes } from '../frames.ts'
import { type ReadVariables, readUserVariables } from './user-variables.ts'

/**
 * What a browser asks for in a `webrtc.verto` request. `callId` is the browser's or, on invitations, ours.
 */
export type VertoRequest =
  | {
      readonly kind: 'invite'
      readonly callId: string
      readonly to: string
      readonly sdp: string
      /** The page was loaded again and takes its call back. */
      readonly reattach: boolean
      /**
       * What is dialled is a part of a call that the page is in: a screen, or one more camera or microphone.
       */
      readonly part?: 'screen' | 'device'
      /** The call that it is a part of, and the page's own member of it. */
      readonly parent: { readonly callId?: string; readonly memberId?: string }
      /** Variables of the page, for what handles the call. */
      readonly userVariables?: UserVariables
    }
  | {
      readonly kind: 'answer'
      readonly callId: string
      readonly sdp: string
      /**
       * Variables of the page, for the caller; or why they are refused. The SDK repeats a failed answer ten
       * times, hence no error.
       */
      readonly said: ReadVariables
    }
  | { readonly kind: 'bye'; readonly callId: string; readonly causeCode: number | undefined }
  | { readonly kind: 'info'; readonly callId: string; readonly digits: string }
  | { readonly kind: 'hold'; readonly callId: string; readonly held: boolean }
  | { readonly kind: 'updateMedia'; readonly callId: string; readonly sdp: string }
  /** A page that was woken by a push notification wants to hear of the call. */
  | { readonly kind: 'subscribe'; readonly callId: string }
  /** The answer to a message of ours; nothing waits for it. */
  | { readonly kind: 'reply' }

/** A message and its own id, which the result repeats. */
export interface VertoMessage {
  readonly id: unknown
  readonly request: VertoRequest
}

type Fields = Readonly<Record<string, unknown>>

/** Reads the params of `webrtc.verto`; throws an {@link RpcError} that names the field at fault. */
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
  said: readUserVariables(dialog.userVariables),
})

const invite = (callId: string, params: Fields, dialog: Fields): VertoRequest => ({
  kind: 'invite',
  callId,
  to: text(dialog.destination_number, 'dialogParams.destination_number', 1024),
  sdp: text(params.sdp, 'sdp'),
  reattach: dialog.attach === true && dialog.reattaching === true,
  ...(dialog.screenShare === true && { part: 'screen' }),
  ...(dialog.additionalDevice === true && { part: 'device' }),
  parent: parentOf(asRecord(dialog.userVariables) ?? {}),
  ...variablesOf(dialog),
})

const variablesOf = ({ userVariables }: Fields): { readonly userVariables?: UserVariables } => {
  const read = readUserVariables(userVariables)
  if ('fault' in read) throw new RpcError(rpcCodes.params, read.fault)
  return read.variables ? { userVariables: read.variables } : {}
}

const parentOf = ({ memberCallId: callId, memberId }: Fields) => ({
  ...(typeof callId === 'string' && { callId }),
  ...(typeof memberId === 'string' && { memberId }),
})

const modify = (callId: string, params: Fields): VertoRequest => {
  const { action } = params
  if (action === 'hold' || action === 'unhold') return { kind: 'hold', callId, held: action === 'hold' }
  if (action === 'updateMedia') return { kind: 'updateMedia', callId, sdp: text(params.sdp, 'sdp') }
  throw new RpcError(rpcCodes.params, 'action: expected hold, unhold or updateMedia')
}

/** Keys that exist; pauses and the like are left out, for they have no meaning here. */
const digitsOf = (value: unknown): string =>
  text(value, 'dtmf', 128)
    .toUpperCase()
    .replace(/[^0-9*#A-D]/g, '')

const text = (value: unknown, field: string, longest = Number.POSITIVE_INFINITY): string => {
  if (typeof value === 'string' && value !== '' && value.length <= longest) return value
  const limit = Number.isFinite(longest) ? ` of at most ${longest} characters` : ''
  throw new RpcError(rpcCodes.params, `${field}: expected a text${limit}`)
}

/** The browser SDK sends numbers as texts. */
const number = (value: unknown): number | undefined => {
  const parsed = typeof value === 'string' ? Number.parseInt(value, 10) : value
  return typeof parsed === 'number' && Number.isFinite(parsed) ? parsed : undefined
}
