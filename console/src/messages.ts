import { ClientError, type ErrorCode } from '@trunkline/client'
import type { Texts } from './texts/en.ts'
import { texts } from './texts/language.ts'

/** Key of a text without values. */
type Plain = { [Key in keyof Texts]: Texts[Key] extends string ? Key : never }[keyof Texts]

const ends: Partial<Record<ErrorCode, Plain>> = {
  normal: 'ended',
  busy: 'endBusy',
  declined: 'endDeclined',
  no_answer: 'endNoAnswer',
  not_online: 'endNotOnline',
  unknown_address: 'endUnknownAddress',
  not_permitted: 'endNotPermitted',
  answered_elsewhere: 'endAnsweredElsewhere',
  transferred: 'transferDone',
  canceled: 'endCanceled',
  media_lost: 'endMediaLost',
  session_lost: 'endConnectionLost',
  disconnected: 'endConnectionLost',
  microphone_refused: 'endMicrophoneRefused',
  microphone_missing: 'endMicrophoneMissing',
  microphone_failed: 'endMicrophoneFailed',
  insecure_page: 'endInsecure',
  screen_failed: 'endScreenFailed',
  unsupported: 'endUnsupported',
  no_capability: 'endNoCapability',
  timeout: 'endTimeout',
}

const causes: Readonly<Record<string, Plain>> = {
  NO_ROUTE_DESTINATION: 'endNoRoute',
  NO_ROUTE_TRANSIT_NET: 'endNoCarrier',
  SWITCH_CONGESTION: 'endCongestion',
  MEDIA_TIMEOUT: 'endMediaTimeout',
  ALLOTTED_TIMEOUT: 'endMaxDuration',
  BEARERCAPABILITY_NOTIMPL: 'endNoFormat',
  DESTINATION_OUT_OF_ORDER: 'endPartyLost',
}

/** Returns the message for the end of a call. */
export const endMessage = (reason: unknown): string => {
  if (!(reason instanceof ClientError)) return texts.value.endFailed
  return texts.value[ends[reason.code] ?? causes[reason.causeName ?? reason.message] ?? 'endNotCompleted']
}

/** Returns the message for a failed change of a running call. */
export const mediaMessage = (reason: unknown): string => {
  const code = reason instanceof ClientError ? reason.code : undefined
  const isMedia =
    code !== undefined &&
    /^(microphone|screen)_|^(insecure_page|unsupported|no_capability|timeout)$/.test(code)
  return texts.value[(isMedia && ends[code]) || 'changeFailed']
}

/** Whether an end is shown in a warning colour: all except a normal end. */
export const isFailure = (reason: unknown): boolean =>
  !(
    reason instanceof ClientError &&
    ['normal', 'canceled', 'answered_elsewhere', 'transferred'].includes(reason.code)
  )

/** Returns the message for an incoming call that stopped ringing. */
export const missedMessage = (reason: unknown, caller: string): string => {
  const code = reason instanceof ClientError ? reason.code : undefined
  if (code === 'answered_elsewhere') return texts.value.answeredElsewhereFrom(caller)
  return texts.value.missedFrom(caller)
}

/** Returns the message for a call that could not be placed. */
export const dialMessage = (reason: unknown): string =>
  reason instanceof ClientError && reason.code === 'bad_argument'
    ? texts.value.badAddress
    : connectionMessage(reason)

/** Returns the message for a failed connection. */
export const connectionMessage = (reason: unknown): string => {
  if (reason instanceof ClientError && reason.code === 'auth') return texts.value.sessionEnded
  if (reason instanceof ClientError && reason.code === 'disconnected') return texts.value.serverUnreachable
  return texts.value.connectionFailed
}
