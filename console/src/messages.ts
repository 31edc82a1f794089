import { ClientError, type ErrorCode } from '@trunkline/client'

const ends: Partial<Record<ErrorCode, string>> = {
  normal: 'Call ended.',
  busy: 'The line is busy.',
  declined: 'The call was declined.',
  no_answer: 'Nobody answered.',
  not_online: 'The person you called is not online.',
  unknown_address: 'There is nobody at this address. Please check it.',
  not_permitted: 'You may not call this address.',
  answered_elsewhere: 'The call was answered on another device.',
  canceled: 'The call was cancelled.',
  media_lost: 'The call ended because its audio was lost.',
  session_lost: 'The call ended because the connection was lost.',
  disconnected: 'The call ended because the connection was closed.',
  microphone_refused: 'The microphone is blocked. Allow it for this page in the browser, then try again.',
  microphone_missing: 'No microphone was found. Connect one, then try again.',
  microphone_failed: 'The microphone could not be opened. Another program may be using it.',
  insecure_page: 'Browsers allow a microphone only on https pages and on localhost.',
  screen_failed: 'The screen could not be shared.',
  unsupported: 'This browser cannot do that.',
  no_capability: 'This call does not allow that.',
  timeout: 'The server did not reply. Please try again.',
}

const causes: Readonly<Record<string, string>> = {
  NO_ROUTE_DESTINATION: 'The other side could not be reached.',
  SWITCH_CONGESTION: 'There are too many calls just now. Please try again later.',
  MEDIA_TIMEOUT: 'The call ended because no audio arrived.',
  ALLOTTED_TIMEOUT: 'The call reached its longest permitted duration.',
  BEARERCAPABILITY_NOTIMPL: 'The other side speaks no audio format that this one knows.',
  DESTINATION_OUT_OF_ORDER: 'The connection of the other side was lost.',
}

/** Returns the message for the end of a call. */
export const endMessage = (reason: unknown): string => {
  if (!(reason instanceof ClientError)) return 'The call failed.'
  return ends[reason.code] ?? causes[reason.causeName ?? reason.message] ?? 'The call could not be completed.'
}

/** Returns the message for a failed change of a running call. */
export const mediaMessage = (reason: unknown): string => {
  const code = reason instanceof ClientError ? reason.code : undefined
  const words =
    code &&
    /^(microphone|screen)_|^(insecure_page|unsupported|no_capability|timeout)$/.test(code) &&
    ends[code]
  return words || 'The server did not take that. Please try again.'
}

/** Whether an end is shown in a warning colour: all except a normal end. */
export const isFailure = (reason: unknown): boolean =>
  !(reason instanceof ClientError && ['normal', 'canceled', 'answered_elsewhere'].includes(reason.code))

/** Returns the message for an incoming call that stopped ringing. */
export const missedMessage = (reason: unknown, who: string): string => {
  const code = reason instanceof ClientError ? reason.code : undefined
  if (code === 'answered_elsewhere') return `The call from ${who} was answered on another device.`
  return `Missed call from ${who}.`
}

/** Returns the message for a call that could not be placed. */
export const dialMessage = (reason: unknown): string =>
  reason instanceof ClientError && reason.code === 'bad_argument'
    ? 'This address cannot be called. Please check it.'
    : connectionMessage(reason)

/** Returns the message for a failed connection. */
export const connectionMessage = (reason: unknown): string => {
  if (reason instanceof ClientError && reason.code === 'auth')
    return 'Your session has ended. Please sign in again.'
  if (reason instanceof ClientError && reason.code === 'disconnected')
    return 'The server cannot be reached. Please try again.'
  return 'The connection could not be made. Please try again.'
}
