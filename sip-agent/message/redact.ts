const censor = '[redacted]'

/** Header fields with credentials, in lower case. */
const credentials = new Set([
  'authorization',
  'proxy-authorization',
  'authentication-info',
  'proxy-authentication-info',
])

/** Header fields, in their folded form too (RFC 3261 7.3.1). */
const headerField = /^([A-Za-z-]+)[ \t]*:[^\r\n]*(?:\r?\n[ \t][^\r\n]*)*/gm

/** Field of an INFO whose body is a digit, in its folded form too. */
const digitsField = /^(?:content-type|c)[ \t]*:[ \t]*(?:\r?\n[ \t]+)*application\/dtmf/im

/** Parameters that allow guesses at the password (RFC 8760). Longer names with these ends count too. */
const digestSecrets = /(response|rspauth|cnonce)[ \t]*=[ \t]*(?:"[^"]*"|[^",\s]*)/gi

/** Starts of lines of an SDP that carry secrets other than keys of SDES. */
const secretLine = /^(?:k=|a=key-mgmt:|a=ice-pwd:)/i

/**
 * Returns a SIP message without secrets: responses of digest authentication, other credentials, keys of
 * media, and digits in an INFO.
 */
export const redactMessage = (text: string): string => {
  // Empty lines before the message are no end of its head (RFC 3261 7.5).
  const start = text.search(/[^\r\n]/)
  if (start > 0) return text.slice(0, start) + redactMessage(text.slice(start))
  const end = text.search(/\r?\n\r?\n/)
  const head = end < 0 ? text : text.slice(0, end)
  const body = end < 0 ? '' : text.slice(end)
  const redacted = head.replace(headerField, (field: string, name: string) =>
    credentials.has(name.toLowerCase()) ? redactCredentials(field) : field,
  )
  return redacted + redactBody(head, body)
}

const redactCredentials = (field: string): string => {
  const colon = field.indexOf(':')
  const value = field.slice(colon + 1).trimStart()
  if (/^digest\s/i.test(value) || /info[ \t]*$/i.test(field.slice(0, colon)))
    return field.replace(digestSecrets, (_parameter, name: string) => `${name}="${censor}"`)
  const [scheme = ''] = value.split(/\s/, 1)
  return `${field.slice(0, colon)}: ${scheme} ${censor}`
}

const redactBody = (head: string, body: string): string => {
  // A digit may belong to a PIN.
  if (/^INFO /.test(head) && digitsField.test(head)) return `\r\n\r\n${censor}`
  return body.replace(/[^\r\n]+/g, redactLine)
}

/** Returns a line of an SDP without its key of SDES (RFC 4568) or other secret. */
const redactLine = (line: string): string => {
  const [start] = secretLine.exec(line) ?? []
  if (start !== undefined) return start + censor
  const key = /^a=crypto:/i.test(line) ? line.search(/\binline:/i) : -1
  return key === -1 ? line : `${line.slice(0, key)}inline:${censor}`
}
