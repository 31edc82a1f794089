import type { SipUri } from '../../core/sip-uri.ts'

/** Parameters that make two URIs different even if only one of the two URIs has them. */
const deciding = ['user', 'ttl', 'method', 'maddr', 'transport']

/** Whether two SIP URIs are the same contact (RFC 3261 section 19.1.4). */
export const isSameUri = (a: SipUri, b: SipUri): boolean =>
  a.scheme === b.scheme &&
  unescaped(a.user) === unescaped(b.user) &&
  a.host === b.host &&
  // A missing port does not equal 5060: DNS may give another port.
  a.port === b.port &&
  sameParams(a.params, b.params) &&
  sameHeaders(a.headers, b.headers)

const sameParams = (a: SipUri['params'], b: SipUri['params']): boolean =>
  deciding.every((name) => a.has(name) === b.has(name)) &&
  [...a].every(([name, value]) => !b.has(name) || same(value, b.get(name)))

const same = (a: string, b: string | undefined): boolean =>
  unescaped(a)?.toLowerCase() === unescaped(b)?.toLowerCase()

const sameHeaders = (a: SipUri['headers'], b: SipUri['headers']): boolean =>
  a.length === b.length &&
  a.every(({ name, value }) =>
    b.some((other) => other.name.toLowerCase() === name.toLowerCase() && other.value === value),
  )

/** Returns text without needless escapes. The remaining escapes are in upper case. */
const unescaped = (text: string | undefined): string | undefined =>
  text?.replace(/%([0-9a-f]{2})/gi, (escaped, code: string) => {
    const character = String.fromCharCode(Number.parseInt(code, 16))
    return /[A-Za-z0-9\-_.!~*'()]/.test(character) ? character : escaped.toUpperCase()
  })
