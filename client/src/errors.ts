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

/** The error for a `verto.bye`: `cause` is the Q.850 name and `causeCode` its value; both may be missing. */
export const endOf = (cause: string | undefined, causeCode: string | number | undefined): ClientError =>
  new ClientError(causes[cause ?? 'NORMAL_CLEARING'] ?? 'failed', cause ?? 'NORMAL_CLEARING', {
    serverCode: causeCode === undefined ? undefined : String(causeCode),
    causeName: cause,
  })

/** The error with which a call ends when the server refused to set it up: an error reply's code read as a status. */
export const refusalOf = (error: unknown): ClientError => {
  if (!(error instanceof ClientError)) return new ClientError('failed', String(error), { cause: error })
  if (error.code !== 'server') return error
  const code = causes[error.message] ?? statuses[error.serverCode ?? ''] ?? 'failed'
  return new ClientError(code, error.message, { serverCode: error.serverCode, cause: error })
}
