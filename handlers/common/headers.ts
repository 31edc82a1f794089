import type { Header } from '../verbs.ts'

/** Characters of a header's name: RFC 3261 section 25.1, `token`. */
const token = /^[A-Za-z0-9.!%*_+`'~-]+$/

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const control = /[\u0000-\u001f\u007f]/

/** Headers that belong to the SIP stack; a document that could set them could forge routing, identity or framing. */
const reserved = new Set(
  (
    'via v from f to t call-id i cseq contact m route record-route max-forwards content-length l content-type c ' +
    'authorization proxy-authorization www-authenticate proxy-authenticate require proxy-require supported k allow ' +
    'expires session-expires x min-se user-agent server replaces refer-to r referred-by b rack rseq event o subscription-state'
  ).split(' '),
)

/** True when the text holds a control character, which would break out of a header or a line. */
export const hasControl = (text: string): boolean => control.test(text)

/** Decodes `%XX` once; text that is not well-formed is returned as it is. */
export const percentDecode = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** A checked header for an INVITE; the value is decoded already. Throws an error that says what is wrong. */
export const readHeader = (name: string, value: string): Header => {
  if (!token.test(name)) throw new Error(`has a header name that SIP does not allow: ${JSON.stringify(name)}`)
  if (reserved.has(name.toLowerCase()))
    throw new Error(`sets the header ${name}, which belongs to the gateway`)
  if (hasControl(value)) throw new Error(`has a line break or control character in the header ${name}`)
  return { name, value }
}

/** The name with `X-` in front, unless it is there. */
export const withX = (name: string): string => (/^x-/i.test(name) ? name : `X-${name}`)
