/**
 * Code of a failure or of the end of a call.
 *
 * - End of a call: `normal`, `busy`, `declined`, `no_answer`, `canceled`, `answered_elsewhere`, `not_online`,
 *   `unknown_address`, `not_permitted`, `transferred` (by {@link Call.transfer}), `failed` (any other
 *   cause).
 * - Rejection by a room: `room_full`, `room_locked`, `room_not_open` (outside its times), `room_ended`.
 * - Removal by a room: `room_removed`, `room_ended` (for all members), `room_expired` (a time limit).
 * - End by a lost connection: `media_lost` (the media path could not be restored), `session_lost` (the server
 *   had dropped the call before the connection was restored).
 * - Command in a call: `no_capability` (not allowed by the gateway), `unsupported` (not possible in the
 *   browser).
 * - Command in a room: `unknown_member`, `unknown_layout`.
 * - Shared screen: `screen_refused` (the user chose none), `screen_failed` (the browser cannot capture it, or
 *   the code of shared screens was not loaded).
 * - Microphone or camera: `microphone_refused`, `microphone_missing`, `microphone_failed`.
 * - `insecure_page`: browsers offer no microphone to plain http pages other than localhost.
 * - Connection: `auth` (the token was rejected), `disconnected`, `timeout`, `server` (an error reply),
 *   `http`.
 * - Application: `bad_host`, `bad_state`, `bad_argument`.
 */
export type ErrorCode =
  | 'normal'
  | 'busy'
  | 'declined'
  | 'no_answer'
  | 'canceled'
  | 'answered_elsewhere'
  | 'transferred'
  | 'not_online'
  | 'unknown_address'
  | 'not_permitted'
  | 'failed'
  | 'room_full'
  | 'room_locked'
  | 'room_not_open'
  | 'room_ended'
  | 'room_removed'
  | 'room_expired'
  | 'media_lost'
  | 'session_lost'
  | 'no_capability'
  | 'unsupported'
  | 'unknown_member'
  | 'unknown_layout'
  | 'screen_refused'
  | 'screen_failed'
  | 'microphone_refused'
  | 'microphone_missing'
  | 'microphone_failed'
  | 'insecure_page'
  | 'auth'
  | 'disconnected'
  | 'timeout'
  | 'server'
  | 'http'
  | 'bad_host'
  | 'bad_state'
  | 'bad_argument'

/** Details from the server, if it sent any. */
export interface ErrorDetail {
  /**
   * Code of the server: a JSON-RPC error code, a result code such as `404`, a Q.850 cause value or an HTTP
   * status.
   */
  readonly serverCode?: string
  /** Name of the Q.850 cause, for example `USER_BUSY`. */
  readonly causeName?: string
  /** Faults that the server found in an HTTP request. */
  readonly refusals?: readonly Refusal[]
  readonly cause?: unknown
}

/** Fault that the server found in a request. */
export interface Refusal {
  readonly code: string
  readonly message: string
  /** Field with the fault. */
  readonly attribute: string | undefined
}

/** Error with which the client throws, rejects, or ends a call. */
export class ClientError extends Error {
  readonly code: ErrorCode
  readonly serverCode: string | undefined
  readonly causeName: string | undefined
  /** Empty except for HTTP requests. */
  readonly refusals: readonly Refusal[]

  constructor(code: ErrorCode, message: string, detail: ErrorDetail = {}) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause })
    this.name = 'ClientError'
    this.code = code
    this.serverCode = detail.serverCode
    this.causeName = detail.causeName
    this.refusals = detail.refusals ?? []
  }
}

const causes: Readonly<Record<string, ErrorCode>> = {
  NORMAL_CLEARING: 'normal',
  USER_BUSY: 'busy',
  CALL_REJECTED: 'declined',
  OUTGOING_CALL_BARRED: 'not_permitted',
  NO_ANSWER: 'no_answer',
  NO_USER_RESPONSE: 'no_answer',
  ORIGINATOR_CANCEL: 'canceled',
  LOSE_RACE: 'answered_elsewhere',
  SUBSCRIBER_ABSENT: 'not_online',
  USER_NOT_REGISTERED: 'not_online',
  UNALLOCATED_NUMBER: 'unknown_address',
}

const statuses: Readonly<Record<string, ErrorCode>> = {
  '401': 'auth',
  '403': 'not_permitted',
  '404': 'unknown_address',
  '408': 'no_answer',
  '409': 'bad_state',
  '480': 'not_online',
  '486': 'busy',
  '487': 'canceled',
  '600': 'busy',
  '603': 'declined',
}

/** Sentence for each end of a call, to be shown to users. */
const sentences: Readonly<Partial<Record<ErrorCode, string>>> = {
  normal: 'The call has ended.',
  busy: 'The called party is busy.',
  declined: 'The call was declined.',
  no_answer: 'There was no answer.',
  canceled: 'The caller hung up before an answer.',
  answered_elsewhere: 'The call was answered on another device.',
  not_online: 'The called party cannot be reached now.',
  unknown_address: 'There is nothing to call at this address.',
  transferred: 'The call was transferred.',
  not_permitted: 'This call is not permitted.',
  auth: 'The sign-in is not good for this call.',
  room_full: 'The room is full.',
  room_locked: 'The room is locked.',
  room_not_open: 'The room cannot be joined at this time.',
  room_ended: 'The room has ended.',
  room_removed: 'The client was removed from the room.',
  room_expired: 'The time in the room is over.',
}

/** Whether a reason is one of a room. Several of them share a Q.850 cause. */
const isOfRoom = (reason: string): reason is ErrorCode =>
  /^room_(full|locked|not_open|ended|removed|expired)$/.test(reason)

/** Returns the sentence for an end; without one, a text that names the cause. */
const sentenceOf = (code: ErrorCode, cause: string): string =>
  sentences[code] ?? `The call could not be completed (${cause}).`

/** Whether a text is the name of a Q.850 cause, as servers write it. */
const isCauseName = (text: string): boolean => /^[A-Z][A-Z0-9_]*$/.test(text)

/**
 * Returns the error for a `verto.bye`: `cause` is the Q.850 name and `causeCode` its value; both may be
 * missing. `reason` is the code of a room that rejects the call or has removed the client.
 */
export const endOf = (
  cause: string | undefined,
  causeCode: string | number | undefined,
  reason = '',
): ClientError => {
  const name = cause ?? 'NORMAL_CLEARING'
  const code = isOfRoom(reason) ? reason : (causes[name] ?? 'failed')
  return new ClientError(code, sentenceOf(code, name), {
    serverCode: causeCode === undefined ? undefined : String(causeCode),
    causeName: cause,
  })
}

/** Returns the reason for which the target of a transfer was not reached, by its SIP status. */
export const transferFailure = (status: number): ClientError => {
  const code = statuses[String(status)] ?? 'failed'
  return new ClientError(code, sentenceOf(code, String(status)), { serverCode: String(status) })
}

/** Returns the error of a call that the server rejected, by the message and status code of its reply. */
export const refusalOf = (error: unknown): ClientError => {
  if (!(error instanceof ClientError)) return new ClientError('failed', String(error), { cause: error })
  if (error.code !== 'server') return error
  const { message, serverCode } = error
  const code = causes[message] ?? statuses[serverCode ?? ''] ?? 'failed'
  const isName = isCauseName(message)
  return new ClientError(code, isName ? sentenceOf(code, message) : message, {
    serverCode,
    cause: error,
    ...(isName && { causeName: message }),
  })
}
