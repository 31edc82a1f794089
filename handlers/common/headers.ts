import type { Header } from '../verbs.ts'

/** Name of a header: `token` of RFC 3261 section 25.1. */
const token = /^[A-Za-z0-9.!%*_+`'~-]+$/

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern finds control characters
const control = /[\u0000-\u001f\u007f]/

/**
 * Headers that only the SIP stack sets; a document that sets them could forge routing, identity or framing.
 */
const reserved = new Set(
  (
    'via v from f to t call-id i cseq contact m route record-route max-forwards content-length l ' +
    'content-type c authorization proxy-authorization www-authenticate proxy-authenticate require ' +
    'proxy-require supported k allow expires session-expires x min-se user-agent server replaces ' +
    'refer-to r referred-by b rack rseq event o subscription-state'
  ).split(' '),
)

/** Whether a text contains a control character, which could start another header or line. */
export const hasControlCharacter = (text: string): boolean => control.test(text)

/** Decodes `%XX` once. Returns a malformed text unchanged. */
export const percentDecode = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Checks a header, with a decoded value, for an INVITE. Throws an error that describes the fault. */
export const readHeader = (name: string, value: string): Header => {
  if (!token.test(name)) throw new Error(`has a header name that SIP does not allow: ${JSON.stringify(name)}`)
  if (reserved.has(name.toLowerCase()))
    throw new Error(`sets the header ${name}, which belongs to the gateway`)
  if (hasControlCharacter(value))
    throw new Error(`has a line break or control character in the header ${name}`)
  return { name, value }
}

/** Adds the prefix `X-` to a name that does not have it. */
export const withXPrefix = (name: string): string => (/^x-/i.test(name) ? name : `X-${name}`)
