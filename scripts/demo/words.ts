import { headerOf } from '../../test/support/sip-text.ts'
import type { PhoneEvent } from './phone.ts'

/** Causes of statuses, as a person at the gateway would explain them. */
const statusWords: Readonly<Record<number, string>> = {
  400: 'The gateway could not read the request.',
  401: 'The gateway asks for a password here: it does not know your address. Add it to an `allow` list.',
  403: 'This address may not call here. Add it to the `allow` list of the domain.',
  404: 'No domain, address or number of the gateway matches.',
  408: 'The called side did not answer in time.',
  407: 'The gateway asks for a password.',
  480: 'The called person is not online, or the domain has no handler.',
  486: 'The called side is busy.',
  487: 'The call was cancelled.',
  488: 'The two sides have no codec in common.',
  500: 'The gateway has a fault; its log has the details.',
  503: 'The document of the call was not fetched, or the gateway is overloaded or stops; see its log.',
  603: 'The called side declined.',
}

/** Causes of Q.850 (ITU-T), in the Reason header of a BYE. */
const causeWords: Readonly<Record<number, string>> = {
  1: 'the address or number is unknown',
  16: 'normal end',
  17: 'busy',
  18: 'no answer: not online, or not reached',
  19: 'no answer in time',
  20: 'not online',
  21: 'declined',
  31: 'normal end',
  38: 'fault of the network',
  41: 'temporary failure',
  47: 'no resources',
  88: 'no codec in common',
  102: 'time-out',
  127: 'failure of the document or of the gateway',
}

/** Returns a sentence about the final response to an INVITE. */
export const refusalText = (response: string): string => {
  const [, status = '', phrase = ''] = /^SIP\/2\.0 (\d{3}) ?(.*)/.exec(response.split('\r\n')[0] ?? '') ?? []
  const words = statusWords[Number(status)]
  const reason = reasonText(response)
  return [`Refused with ${status} ${phrase}.`, ...(words ? [words] : []), ...(reason ? [reason] : [])].join(
    ' ',
  )
}

/** Returns a sentence about the Reason header (RFC 3326) of a message; undefined without the header. */
export const reasonText = (message: string): string | undefined => {
  const reason = headerOf(message, 'Reason')
  if (reason === undefined) return undefined
  const text = /text="([^"]*)"/.exec(reason)?.[1]
  const cause = Number(/Q\.850\s*;\s*cause=(\d+)/i.exec(reason)?.[1] ?? Number.NaN)
  const words = [causeWords[cause], text].filter((each) => each !== undefined && each !== '')
  return words.length > 0 ? `Reason: ${words.join('; ')}.` : `Reason: ${reason}.`
}

/** Returns a sentence about the end of a call to a gateway at an address. */
export const endText = ({ by, message }: Extract<PhoneEvent, { kind: 'ended' }>, gateway: string): string => {
  if (by === 'refusal') return refusalText(message)
  if (by === 'no-answer') return 'No answer came within two minutes: the call is cancelled.'
  if (by === 'us') return 'Hung up. The call is over.'
  if (by === 'far') return `The gateway hung up. ${reasonText(message) ?? ''}`.trim()
  return `Nothing answers at ${gateway} (UDP). Is the gateway running, with this port in sip.listen?`
}
