import { isIPv6 } from 'node:net'

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
  /** The URI without its headers, which must not stand in a request line. */
  readonly bare: string
}

const longestUri = 1_024

const form =
  /^(sips?):(?:([^@\s<>"]+)@)?(\[[0-9a-f:.]{2,45}\]|[a-z0-9_](?:[a-z0-9._-]{0,252}[a-z0-9])?\.?)(?::(\d{1,5}))?((?:;[^;?\s<>"@]+)*)(?:\?([^\s<>"@]*))?$/i

/** Reads a SIP URI; undefined for anything else, and for whatever could break a header open. */
export const parseSipUri = (text: string): SipUri | undefined => {
  if (text.length > longestUri || hasControls(text)) return undefined
  const found = form.exec(text)
  if (!found) return undefined
  const [, scheme = '', user, hostPart = '', portPart, params = '', headers = ''] = found
  const port = portPart === undefined ? undefined : Number(portPart)
  const host = hostPart.replace(/^\[|\]$/g, '').toLowerCase()
  if (port !== undefined && (port < 1 || port > 65_535)) return undefined
  if (hostPart.startsWith('[') && !isIPv6(host)) return undefined
  const parsedHeaders = readHeaders(headers)
  if (!parsedHeaders) return undefined
  return {
    scheme: scheme.toLowerCase() === 'sips' ? 'sips' : 'sip',
    user,
    host: host.endsWith('.') ? host.slice(0, -1) : host,
    port,
    params: readParams(params),
    headers: parsedHeaders,
    bare:
      text.split('?')[0] === text || headers === ''
        ? text.replace(/\?$/, '')
        : text.slice(0, -headers.length - 1),
  }
}

/** The called or calling number or name: the user part without its parameters and password, decoded. */
export const userOf = (uri: Pick<SipUri, 'user'>): string => {
  const user = uri.user?.split(/[;:]/)[0] ?? ''
  return decoded(user) ?? user
}

/** Whether a request to a URI goes out encrypted. */
export const isSecure = ({ scheme, params }: Pick<SipUri, 'scheme' | 'params'>): boolean =>
  scheme === 'sips' || /^(tls|wss)$/i.test(params.get('transport') ?? '')

/**
 * Returns a URI for logs and for people: without the password that its user part may have. The URI may be
 * malformed, and a header's value may stand around it. Everything that could belong to a password is left
 * out. The time is linear in the length of the text.
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

/** Reads a `tel:` URI; undefined for anything else, and for a number of more than 32 characters. */
export const parseTelUri = (text: string): TelUri | undefined => {
  const found = /^tel:(\+?[0-9A-D*#.()-]{1,64})((?:;[^\s;<>"]+)*)$/i.exec(text.slice(0, longestUri))
  if (!found) return undefined
  const number = (found[1] ?? '').replace(/[.()-]/g, '').toUpperCase()
  const params = readParams(found[2] ?? '')
  return /[0-9A-D*#]/.test(number) && number.length <= 32
    ? { number, context: params.get('phone-context') ?? '' }
    : undefined
}

/** A From, To or Contact value. */
export interface NameAddress {
  /** Display name without quotes; default empty. */
  readonly name: string
  readonly uri: string
  /** Header parameters, from the first `;`. */
  readonly params: string
}

/**
 * Reads one name-addr or addr-spec (RFC 3261 section 20.10). Returns undefined unless the value is exactly
 * one.
 */
export const parseNameAddress = (value: string): NameAddress | undefined => {
  if (value.length > 2 * longestUri || hasControls(value)) return undefined
  const text = value.trim()
  const quoted = /^"((?:[^"\\]|\\.)*)"\s*<([^<>\s]+)>\s*(;[^,]*)?$/.exec(text)
  if (quoted) {
    const [, name = '', uri = '', params = ''] = quoted
    return { name: name.replace(/\\(.)/g, '$1'), uri, params }
  }
  const token = /^([^<>"@,;:]*)<([^<>\s]+)>\s*(;[^,]*)?$/.exec(text)
  if (token) {
    const [, name = '', uri = '', params = ''] = token
    return { name: name.trim(), uri, params }
  }
  // Without brackets every parameter is the header's.
  const [, uri, params = ''] = /^([^\s<>",;]+)\s*(;[^,]*)?$/.exec(text) ?? []
  return uri === undefined ? undefined : { name: '', uri, params }
}

/** Text with a control character in it never becomes part of a message. */
export const hasControls = (text: string): boolean => /[\p{Cc}\u2028\u2029]/u.test(text)

const readParams = (text: string): ReadonlyMap<string, string> =>
  new Map(
    text
      .split(';')
      .filter((part) => part !== '')
      .map((part) => {
        const [name = '', ...value] = part.split('=')
        return [name.toLowerCase(), value.join('=')]
      }),
  )

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
