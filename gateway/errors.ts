/** How loudly an entry of the {@link catalogue} is logged. */
export type Level = 'info' | 'warn' | 'error'

interface Entry {
  /** One sentence for a person. */
  readonly text: string
  /** SIP status with which a call that was not answered yet is refused. */
  readonly sip: number
  /** HTTP status of an API reply that carries the code. */
  readonly http: number
  /** Q.850 cause value: the Reason header of a BYE, and the causeCode a browser is told. */
  readonly q850: number
  /** The Q.850 cause by its usual name: the `cause` a browser is told. */
  readonly cause: string
  readonly level: Level
}

const entry = (
  text: string,
  sip: number,
  http: number,
  q850: number,
  cause: string,
  level: Level,
): Entry => ({
  text,
  sip,
  http,
  q850,
  cause,
  level,
})

/**
 * Every reason for which something is refused or a call ends. Log lines, metric labels, API bodies, CDR causes and the page
 * `docs/errors.md` all take their words from here.
 */
export const catalogue = {
  // How calls end.
  normal: entry('The call was hung up.', 480, 200, 16, 'NORMAL_CLEARING', 'info'),
  canceled: entry('The caller gave up before an answer.', 487, 200, 16, 'ORIGINATOR_CANCEL', 'info'),
  busy: entry('The called party is busy.', 486, 200, 17, 'USER_BUSY', 'info'),
  declined: entry('The called party declined.', 603, 200, 21, 'CALL_REJECTED', 'info'),
  no_answer: entry('Nobody answered in time.', 480, 200, 19, 'NO_ANSWER', 'info'),
  answered_elsewhere: entry('The call was answered on another device.', 487, 200, 26, 'LOSE_RACE', 'info'),
  not_online: entry('The subscriber is not online.', 480, 404, 20, 'SUBSCRIBER_ABSENT', 'info'),
  far_refused: entry('The far side refused the call.', 502, 502, 41, 'NORMAL_TEMPORARY_FAILURE', 'info'),
  unreachable: entry('The far side could not be reached.', 503, 502, 3, 'NO_ROUTE_DESTINATION', 'warn'),
  max_duration: entry(
    'The call reached its longest permitted duration.',
    480,
    200,
    102,
    'ALLOTTED_TIMEOUT',
    'info',
  ),
  media_timeout: entry('No audio arrived from the far side.', 480, 504, 102, 'MEDIA_TIMEOUT', 'warn'),
  session_expired: entry(
    'Nobody refreshed the session in time.',
    480,
    504,
    102,
    'RECOVERY_ON_TIMER_EXPIRE',
    'warn',
  ),
  client_lost: entry(
    "The subscriber's connection was lost.",
    480,
    504,
    27,
    'DESTINATION_OUT_OF_ORDER',
    'info',
  ),
  draining: entry('The gateway is shutting down.', 503, 503, 41, 'NORMAL_TEMPORARY_FAILURE', 'info'),
  internal: entry('Something failed inside the gateway.', 500, 500, 41, 'NORMAL_TEMPORARY_FAILURE', 'error'),
  control_lost: entry(
    'The connection to the SIP agent was lost.',
    503,
    503,
    38,
    'NETWORK_OUT_OF_ORDER',
    'error',
  ),
  // Why a carrier's call is refused at the door.
  source_not_allowed: entry(
    'The source address is not in the allowlist.',
    403,
    403,
    21,
    'CALL_REJECTED',
    'warn',
  ),
  unknown_domain: entry('No domain application has this domain.', 404, 404, 1, 'UNALLOCATED_NUMBER', 'warn'),
  no_handler: entry('The domain application has no handler.', 480, 404, 20, 'SUBSCRIBER_ABSENT', 'warn'),
  over_call_limit: entry(
    'The limit of simultaneous calls is reached.',
    503,
    429,
    42,
    'SWITCH_CONGESTION',
    'warn',
  ),
  over_call_rate: entry('Too many new calls came at once.', 503, 429, 42, 'SWITCH_CONGESTION', 'warn'),
  overloaded: entry('The gateway is busy.', 503, 503, 42, 'SWITCH_CONGESTION', 'warn'),
  too_many_hops: entry(
    'The call has gone over too many hops: it may go in a circle.',
    483,
    508,
    25,
    'EXCHANGE_ROUTING_ERROR',
    'warn',
  ),
  no_common_codec: entry(
    'None of the offered codecs is supported.',
    488,
    415,
    65,
    'BEARERCAPABILITY_NOTIMPL',
    'warn',
  ),
  bad_sdp: entry('The session description cannot be used.', 488, 400, 96, 'MANDATORY_IE_MISSING', 'warn'),
  srtp_mismatch: entry(
    'The encryption of the audio does not fit what is permitted here.',
    488,
    415,
    58,
    'BEARERCAPABILITY_NOTAVAIL',
    'warn',
  ),
  interval_too_small: entry(
    'The session timer that is asked for is too short.',
    422,
    400,
    95,
    'INVALID_MSG_UNSPECIFIED',
    'info',
  ),
  unknown_dialog: entry(
    'The call that is to be replaced is not there.',
    481,
    404,
    81,
    'INVALID_CALL_REFERENCE',
    'info',
  ),
  unsupported_body: entry(
    'The body of the request is of an unknown type.',
    415,
    415,
    95,
    'INVALID_MSG_UNSPECIFIED',
    'warn',
  ),
  bad_request: entry('The request is malformed.', 400, 400, 95, 'INVALID_MSG_UNSPECIFIED', 'warn'),
  unsupported_uri: entry(
    'The called number stands in a tel: URI, without a domain.',
    416,
    400,
    127,
    'INTERWORKING',
    'warn',
  ),
  bad_extension: entry(
    'The request requires an extension that is not supported.',
    420,
    400,
    79,
    'SERVICE_NOT_IMPLEMENTED',
    'warn',
  ),
  no_ports: entry('No media port is free.', 503, 503, 42, 'SWITCH_CONGESTION', 'error'),
  sound_busy: entry(
    'Too many sounds are waiting to be made ready.',
    503,
    503,
    42,
    'SWITCH_CONGESTION',
    'warn',
  ),
  // Recordings.
  recording_no_space: entry(
    'The disk has too little space for new recordings.',
    503,
    503,
    42,
    'SWITCH_CONGESTION',
    'error',
  ),
  recording_failed: entry(
    'A recording could not be written.',
    500,
    500,
    41,
    'NORMAL_TEMPORARY_FAILURE',
    'error',
  ),
  recording_in_progress: entry(
    'The recording is not over yet.',
    480,
    409,
    41,
    'NORMAL_TEMPORARY_FAILURE',
    'info',
  ),
  unknown_recording: entry('There is no such recording.', 404, 404, 1, 'UNALLOCATED_NUMBER', 'info'),
  // The registrar, and what is asked of it.
  interval_too_brief: entry(
    'The registration is too short.',
    423,
    400,
    95,
    'INVALID_MSG_UNSPECIFIED',
    'info',
  ),
  too_many_contacts: entry('The endpoint has too many contacts.', 403, 429, 21, 'CALL_REJECTED', 'warn'),
  no_outbound: entry(
    'A flow can be registered only without a proxy between.',
    439,
    400,
    79,
    'SERVICE_NOT_IMPLEMENTED',
    'info',
  ),
  bad_event: entry('The event package is not supported.', 489, 400, 79, 'SERVICE_NOT_IMPLEMENTED', 'info'),
  method_not_allowed: entry('The method is not supported.', 405, 405, 97, 'MESSAGE_TYPE_NONEXIST', 'info'),
  // Handlers and their documents.
  document_unreachable: entry(
    'The document could not be fetched.',
    503,
    502,
    41,
    'NORMAL_TEMPORARY_FAILURE',
    'warn',
  ),
  document_invalid: entry('The document is not valid.', 503, 422, 41, 'NORMAL_TEMPORARY_FAILURE', 'warn'),
  handler_failed: entry('The handler failed.', 500, 500, 41, 'NORMAL_TEMPORARY_FAILURE', 'error'),
  // Verbs.
  no_audio: entry('The call has no audio.', 488, 409, 58, 'BEARERCAPABILITY_NOTAVAIL', 'warn'),
  sound_failed: entry('A sound could not be had.', 500, 502, 41, 'NORMAL_TEMPORARY_FAILURE', 'warn'),
  invalid_digits: entry(
    'There are characters that are no keys.',
    400,
    422,
    28,
    'INVALID_NUMBER_FORMAT',
    'warn',
  ),
  bad_stream: entry(
    'The stream cannot be had as it is described.',
    400,
    422,
    95,
    'INVALID_MSG_UNSPECIFIED',
    'warn',
  ),
  stream_failed: entry('A stream of audio broke off.', 500, 502, 41, 'NORMAL_TEMPORARY_FAILURE', 'warn'),
  too_many_recordings: entry(
    'The call has too many recordings under way.',
    503,
    429,
    42,
    'SWITCH_CONGESTION',
    'warn',
  ),
  too_many_detections: entry(
    'The call has too many detections under way.',
    503,
    429,
    42,
    'SWITCH_CONGESTION',
    'warn',
  ),
  bad_name: entry(
    'A conference or queue cannot have this name.',
    400,
    422,
    95,
    'INVALID_MSG_UNSPECIFIED',
    'warn',
  ),
  conference_failed: entry(
    'The conference could not be opened.',
    500,
    500,
    41,
    'NORMAL_TEMPORARY_FAILURE',
    'error',
  ),
  refer_unsupported: entry(
    'The far side cannot be asked to call somebody else.',
    405,
    409,
    79,
    'SERVICE_NOT_IMPLEMENTED',
    'info',
  ),
  user_event_too_large: entry(
    'The event is larger than 16 kB.',
    413,
    413,
    95,
    'INVALID_MSG_UNSPECIFIED',
    'warn',
  ),
  verb_unavailable: entry('The call cannot do this.', 501, 501, 79, 'SERVICE_NOT_IMPLEMENTED', 'warn'),
  no_application: entry('No application took the call.', 480, 404, 20, 'SUBSCRIBER_ABSENT', 'warn'),
  // Addresses and subscribers.
  unknown_address: entry('Nothing has this address.', 404, 404, 1, 'UNALLOCATED_NUMBER', 'info'),
  not_permitted: entry('This address may not be called from here.', 403, 403, 21, 'CALL_REJECTED', 'warn'),
  unauthorized: entry('The credentials are missing or wrong.', 401, 401, 21, 'CALL_REJECTED', 'warn'),
  too_many_requests: entry('Too many requests; try again later.', 503, 429, 42, 'SWITCH_CONGESTION', 'warn'),
} as const satisfies Record<string, Entry>

/** A key of the {@link catalogue}. */
export type Code = keyof typeof catalogue

/** Why a leg or a call ended. */
export interface Cause {
  readonly code: Code
  /** The SIP status that the far side gave, or that we want to give instead of the catalogue's. */
  readonly sip?: number
  /** The Q.850 cause value that the far side gave. */
  readonly q850?: number
  /** What was found, in addition to the catalogue's text. Never a secret. */
  readonly detail?: string
}

/** The SIP status for a cause: its own, else the catalogue's. */
export const sipStatusOf = (cause: Cause): number => cause.sip ?? catalogue[cause.code].sip

/** Q.850 causes of refusals that the catalogue has no code for (RFC 3398 section 8.2.6.1); any other is a temporary failure. */
const q850OfStatus: Readonly<Partial<Record<number, number>>> = {
  ...{ 401: 21, 402: 21, 403: 21, 404: 1, 405: 63, 406: 79, 407: 21, 410: 22, 415: 79, 420: 127, 482: 25 },
  ...{ 483: 25, 484: 28, 485: 1, 488: 65, 501: 79, 502: 38, 504: 102, 604: 1, 606: 65 },
}

/** The Q.850 cause value of a cause: what the far side said, else what its status means, else the catalogue's. */
export const q850Of = ({ code, sip, q850 }: Cause): number =>
  q850 ?? (code === 'far_refused' && sip ? q850OfStatus[sip] : undefined) ?? catalogue[code].q850

/** An error with a code of the catalogue; `facts` are the checked facts for the log line. */
export class TrunklineError extends Error {
  readonly code: Code
  readonly facts: Readonly<Record<string, unknown>>

  constructor(code: Code, detail?: string, facts: Readonly<Record<string, unknown>> = {}, cause?: unknown) {
    super(
      detail ? `${catalogue[code].text} ${detail}` : catalogue[code].text,
      cause === undefined ? undefined : { cause },
    )
    this.name = 'TrunklineError'
    this.code = code
    this.facts = facts
  }
}

/** The code of any thrown value: its own `code` when the catalogue has it (media errors carry one too), else `internal`. */
export const codeOf = (error: unknown): Code => {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' && Object.hasOwn(catalogue, code) ? (code as Code) : 'internal'
}
