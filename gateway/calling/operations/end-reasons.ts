import type { HangupReason } from '../../../handlers/verbs.ts'

/** Reasons of a call's end, in the spelling of applications. */
export type EndReason = 'hangup' | 'cancel' | 'busy' | 'noAnswer' | 'decline' | 'error'

/** Reasons that `calling.end` accepts. */
export const endReasons: readonly EndReason[] = ['hangup', 'cancel', 'busy', 'noAnswer', 'decline', 'error']

/** Reasons of the verb `hangup`. */
export const hangupReasons: Readonly<Record<EndReason, HangupReason>> = {
  hangup: 'hangup',
  cancel: 'hangup',
  busy: 'busy',
  noAnswer: 'no-answer',
  decline: 'decline',
  error: 'error',
}

const byCode: Readonly<Record<string, EndReason>> = {
  normal: 'hangup',
  canceled: 'cancel',
  busy: 'busy',
  declined: 'decline',
  no_answer: 'noAnswer',
  not_online: 'noAnswer',
  answered_elsewhere: 'cancel',
}

/** Returns the reason for a code of the error catalogue. */
export const endReasonOf = (code: string): EndReason => byCode[code] ?? 'error'
