/**
 * Why something failed or a call ended.
 *
 * - How calls end: `normal`, `busy`, `declined`, `no_answer`, `canceled`, `answered_elsewhere`, `not_online`, `unknown_address`,
 *   `not_permitted`, `failed` (any other cause), `media_lost` (the audio path broke and could not be restored), `session_lost` (the
 *   connection came back, but the server had given the call up).
 * - A command in a call: `no_capability` (the gateway does not let us), `unsupported` (the browser cannot).
 * - A screen to share: `screen_refused` (the person chose none), `screen_failed`.
 * - The microphone or camera: `microphone_refused`, `microphone_missing`, `microphone_failed`, `insecure_page` (browsers give no microphone to
 *   plain http pages other than localhost).
 * - The connection: `auth` (the token was refused), `disconnected`, `timeout`, `server` (an error reply), `http`.
 * - The application: `bad_host`, `bad_state`, `bad_argument`.
 */
export type ErrorCode =
  | 'normal'
  | 'busy'
  | 'declined'
  | 'no_answer'
  | 'canceled'
  | 'answered_elsewhere'
  | 'not_online'
  | 'unknown_address'
  | 'not_permitted'
  | 'failed'
  | 'media_lost'
  | 'session_lost'
  | 'no_capability'
  | 'unsupported'
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

/** What the server said, where it said something. */
export interface ErrorDetail {
  /** The server's own code: a JSON-RPC error code, a result code such as `404`, a Q.850 cause value or an HTTP status. */
  readonly serverCode?: string
  /** The Q.850 cause by name, for example `USER_BUSY`. */
  readonly causeName?: string
  /** What the server found wrong with an HTTP request. */
  readonly refusals?: readonly Refusal[]
  readonly cause?: unknown
}

/** One thing that the server found wrong. */
export interface Refusal {
  readonly code: string
  readonly message: string
  /** The field that it is about. */
  readonly attribute: string | undefined
}

/** Every error that the client throws, rejects with, or ends a call with. */
export class ClientError extends Error {
  readonly code: ErrorCode
  readonly serverCode: string | undefined
  readonly causeName: string | undefined
  /** Empty but for HTTP requests. */
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
  '480': 'not_online',
  '486': 'busy',
  '487': 'canceled',
  '603': 'declined',
}

/** The sentence of each end of a call, for the people who were in it. */
const sentences: Readonly<Partial<Record<ErrorCode, string>>> = {
  normal: 'The call has ended.',
  busy: 'The called party is busy.',
  declined: 'The call was declined.',
  no_answer: 'There was no answer.',
  canceled: 'The caller hung up before an answer.',
  answered_elsewhere: 'The call was answered on another device.',
  not_online: 'The called party cannot be reached now.',
  unknown_address: 'There is nothing to call at this address.',
  not_permitted: 'This call is not permitted.',
  auth: 'The sign-in is not good for this call.',
}

/** The sentence of an end; that of a cause without one names it. */
const sentenceOf = (code: ErrorCode, cause: string): string =>
  sentences[code] ?? `The call could not be completed (${cause}).`

/** The name of a Q.850 cause, as servers write it. */
const isCauseName = (text: string): boolean => /^[A-Z][A-Z0-9_]*$/.test(text)

/** The error for a `verto.bye`: `cause` is the Q.850 name and `causeCode` its value; both may be missing. */
export const endOf = (cause: string | undefined, causeCode: string | number | undefined): ClientError => {
  const name = cause ?? 'NORMAL_CLEARING'
  const code = causes[name] ?? 'failed'
  return new ClientError(code, sentenceOf(code, name), {
    serverCode: causeCode === undefined ? undefined : String(causeCode),
    causeName: cause,
  })
}

/** The error with which a call ends when the server refused to set it up: an error reply's code read as a status. */
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
