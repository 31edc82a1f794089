/**
 * Digits in the order of their RFC 4733 event codes. Some senders of INFO write the code of `*` and `#` (10,
 * 11).
 */
const byEvent = [...'0123456789*#ABCD']

/**
 * Returns the digit in the body of an INFO: `application/dtmf-relay` (`Signal=5`), or `application/dtmf`
 * (only the digit). Returns undefined if the body holds no digit.
 */
export const digitOfInfo = (contentType: string, body: string): string | undefined => {
  const type = mediaType(contentType)
  if (type === 'application/dtmf-relay')
    return digit(/^[ \t]*signal[ \t]*=[ \t]*(\S{1,2})[ \t]*$/im.exec(body.slice(0, 256))?.[1])
  if (type === 'application/dtmf') return digit(/^\s*(\S{1,2})\s*$/.exec(body.slice(0, 256))?.[1])
  return undefined
}

/** The two content types of a digit in INFO; neither is a standard. */
export type DigitType = 'application/dtmf-relay' | 'application/dtmf'
const digitTypes: readonly DigitType[] = ['application/dtmf-relay', 'application/dtmf']

/** Returns the type of an INFO with this Content-Type; undefined if it carries no digit. */
export const digitTypeOf = (contentType: string): DigitType | undefined =>
  digitTypes.find((type) => type === mediaType(contentType))

/**
 * Returns the type to send to a peer with this Accept: `application/dtmf-relay`, unless the peer accepts only
 * the other.
 */
export const digitTypeFor = (accept = ''): DigitType => {
  const taken = accept.split(',').map(mediaType)
  return digitTypes.find((type) => taken.includes(type)) ?? 'application/dtmf-relay'
}

/**
 * Returns the body of an INFO with one digit. `durationMs`: duration of the key press that the body reports.
 */
export const infoOfDigit = (
  key: string,
  type: DigitType = 'application/dtmf-relay',
  durationMs = 160,
): string =>
  type === 'application/dtmf'
    ? key.toUpperCase()
    : `Signal=${key.toUpperCase()}\r\nDuration=${durationMs}\r\n`

const mediaType = (contentType: string): string => contentType.split(';')[0]?.trim().toLowerCase() ?? ''

const digit = (text: string | undefined): string | undefined => {
  if (text === undefined) return undefined
  if (/^1[0-5]$/.test(text)) return byEvent[Number(text)]
  return /^[0-9*#A-D]$/i.test(text) ? text.toUpperCase() : undefined
}
