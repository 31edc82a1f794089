import { readHeaderParams, readSipUri } from '@trunkline/sip-agent/message'

/** A `sip:` or `sips:` URI, taken apart (RFC 3261 section 19.1). */
export interface SipUri {
  readonly scheme: 'sip' | 'sips'
  /** User part with its parameters and escapes as written; undefined if the URI has none. */
  readonly user: string | undefined
  /** Lower case; an IPv6 address without its brackets. */
  readonly host: string
  readonly port: number | undefined
  /** Names in lower case; a parameter without a value has an empty one. */
  readonly params: ReadonlyMap<string, string>
  /** The part after `?`, decoded, in order. */
  readonly headers: readonly { readonly name: string; readonly value: string }[]
  /** The URI without its headers, which are not allowed in a request line. */
  readonly bare: string
}

/** Maximum length of a URI, in characters. */
const maxLength = 1_024

/**
 * Reads a SIP URI. Returns undefined for any other text, for more than 1,024 characters, for port 0, and for
 * characters that could end a header field.
 */
export const parseSipUri = (text: string): SipUri | undefined => {
  const found = text.length > maxLength ? undefined : readSipUri(text)
  const headers = found && readHeaders(found.headers ?? '')
  if (!headers || found.port === 0) return undefined
  const { scheme, user, host, port, params } = found
  return {
    scheme,
    user,
    host: host.toLowerCase().replace(/\.$/, ''),
    port,
    params: new Map(Array.from(params, ([name, value = '']) => [name, value])),
    headers,
    bare: found.headers === undefined ? text : text.slice(0, -found.headers.length - 1),
  }
}

/** Returns the number or name in a URI: the decoded user part without its parameters and password. */
export const userOf = (uri: Pick<SipUri, 'user'>): string => {
  const user = uri.user?.split(/[;:]/)[0] ?? ''
  return decoded(user) ?? user
}

/** Whether a request to a URI goes out encrypted. */
export const isSecure = ({ scheme, params }: Pick<SipUri, 'scheme' | 'params'>): boolean =>
  scheme === 'sips' || /^(tls|wss)$/i.test(params.get('transport') ?? '')

/**
 * Returns a URI without the password that its user part may have, for logs and people. The text may be
 * malformed, or a whole header value with a URI. Everything that could belong to a password is left out. The
 * time is linear in the length of the text.
 */
export const shownUri = (text: string): string => {
  const end = text.lastIndexOf('@')
  const found = end < 0 ? null : /\bsips?:[^:@]*:/i.exec(text.slice(0, end))
  return found ? text.slice(0, found.index + found[0].length - 1) + text.slice(end) : text
}

/** A `tel:` URI, taken apart (RFC 3966). */
export interface TelUri {
  /** With its plus, without visual separators. */
  readonly number: string
  /** Value of `phone-context`; empty without one. */
  readonly context: string
}

/** Reads a `tel:` URI. Returns undefined for any other text, and for a number of more than 32 characters. */
export const parseTelUri = (text: string): TelUri | undefined => {
  const found = /^tel:(\+?[0-9A-D*#.()-]{1,64})((?:;[^\s;<>"]+)*)$/i.exec(text.slice(0, maxLength))
  if (!found) return undefined
  const number = (found[1] ?? '').replace(/[.()-]/g, '').toUpperCase()
  const context = readHeaderParams(found[2] ?? '').get('phone-context') ?? ''
  return /[0-9A-D*#]/.test(number) && number.length <= 32 ? { number, context } : undefined
}

const readHeaders = (text: string): SipUri['headers'] | undefined => {
  const headers = []
  for (const part of text.split('&').filter((entry) => entry !== '')) {
    const [rawName = '', ...rest] = part.split('=')
    const name = decoded(rawName)
    const value = decoded(rest.join('='))
    if (!name || value === undefined) return undefined
    headers.push({ name, value })
  }
  return headers
}

const decoded = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
