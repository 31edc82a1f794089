import { ClientError, type ErrorCode } from '@trunkline/client'

const ends: Partial<Record<ErrorCode, string>> = {
  normal: 'Call ended.',
  busy: 'The line is busy. Try again later.',
  declined: 'The call was declined.',
  no_answer: 'No answer.',
  not_online: 'This person is not online.',
  unknown_address: 'This address does not exist. Check it, then try again.',
  not_permitted: 'You are not allowed to call this address.',
  answered_elsewhere: 'The call was answered on another device.',
  canceled: 'The call was cancelled.',
  media_lost: 'The call ended because the audio was lost.',
  session_lost: 'The call ended because the connection was lost.',
  disconnected: 'The call ended because the connection was closed.',
  microphone_refused: 'The microphone is blocked. Allow it for this page in the browser, then try again.',
  microphone_missing: 'No microphone found. Connect one, then try again.',
  microphone_failed: 'The microphone is not available. Close other programs that use it, then try again.',
  insecure_page: 'The browser allows calls only on https pages. Open this page with https.',
  screen_failed: 'The screen could not be shared. Please try again.',
  unsupported: 'This browser does not support this.',
  no_capability: 'This call does not support this.',
  timeout: 'The server did not respond. Please try again.',
}

const causes: Readonly<Record<string, string>> = {
  NO_ROUTE_DESTINATION: 'This number or address cannot be reached.',
  SWITCH_CONGESTION: 'Too many calls at the moment. Please try again later.',
  MEDIA_TIMEOUT: 'The call ended because no audio arrived.',
  ALLOTTED_TIMEOUT: 'The call reached its maximum duration.',
  BEARERCAPABILITY_NOTIMPL: 'The other party does not support any available audio format.',
  DESTINATION_OUT_OF_ORDER: 'The other party lost the connection.',
}

/** Returns the message for the end of a call. */
export const endMessage = (reason: unknown): string => {
  if (!(reason instanceof ClientError)) return 'The call failed.'
  return ends[reason.code] ?? causes[reason.causeName ?? reason.message] ?? 'The call could not be completed.'
}

/** Returns the message for a failed change of a running call. */
export const mediaMessage = (reason: unknown): string => {
  const code = reason instanceof ClientError ? reason.code : undefined
  const text =
    code &&
    /^(microphone|screen)_|^(insecure_page|unsupported|no_capability|timeout)$/.test(code) &&
    ends[code]
  return text || 'The change failed. Please try again.'
}

/** Whether an end is shown in a warning colour: all except a normal end. */
export const isFailure = (reason: unknown): boolean =>
  !(reason instanceof ClientError && ['normal', 'canceled', 'answered_elsewhere'].includes(reason.code))

/** Returns the message for an incoming call that stopped ringing. */
export const missedMessage = (reason: unknown, caller: string): string => {
  const code = reason instanceof ClientError ? reason.code : undefined
  if (code === 'answered_elsewhere') return `The call from ${caller} was answered on another device.`
  return `Missed call from ${caller}.`
}

/** Returns the message for a call that could not be placed. */
export const dialMessage = (reason: unknown): string =>
  reason instanceof ClientError && reason.code === 'bad_argument'
    ? 'This address cannot be called. Check it, then try again.'
    : connectionMessage(reason)

/** Returns the message for a failed connection. */
export const connectionMessage = (reason: unknown): string => {
  if (reason instanceof ClientError && reason.code === 'auth')
    return 'Your session has ended. Please sign in again.'
  if (reason instanceof ClientError && reason.code === 'disconnected')
    return 'The server cannot be reached. Please try again.'
  return 'The connection failed. Please try again.'
}
