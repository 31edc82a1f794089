/** Digits by number, as RFC 4733 numbers the events; some senders of INFO write the number of `*` and `#`. */
const byEvent = [...'0123456789*#ABCD']

/**
 * The digit in the body of an INFO: `application/dtmf-relay` (`Signal=5`), or `application/dtmf` (the digit alone).
 * Undefined where the body holds none.
 */
export const digitOfInfo = (contentType: string, body: string): string | undefined => {
  const type = mediaType(contentType)
  if (type === 'application/dtmf-relay')
    return digit(/^\s*signal\s*=\s*(\S{1,2})\s*$/im.exec(body.slice(0, 256))?.[1])
  if (type === 'application/dtmf') return digit(/^\s*(\S{1,2})\s*$/.exec(body.slice(0, 256))?.[1])
  return undefined
}

/** Whether an INFO of this Content-Type carries a digit. */
export const isDigitInfo = (contentType: string): boolean =>
  ['application/dtmf-relay', 'application/dtmf'].includes(mediaType(contentType))

/** The body of an INFO with one digit; `durationMs` as RFC 4733 senders hold a key. */
export const infoOfDigit = (key: string, durationMs = 160): string =>
  `Signal=${key.toUpperCase()}\r\nDuration=${durationMs}\r\n`

const mediaType = (contentType: string): string => contentType.split(';')[0]?.trim().toLowerCase() ?? ''

const digit = (text: string | undefined): string | undefined => {
  if (text === undefined) return undefined
  if (/^1[0-5]$/.test(text)) return byEvent[Number(text)]
  return /^[0-9*#A-D]$/i.test(text) ? text.toUpperCase() : undefined
}
