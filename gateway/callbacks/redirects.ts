import { redactedUrl } from '../../handlers/common/urls.ts'
import { TrunklineError } from '../core/errors/catalogue.ts'
import type { Outgoing } from './transport.ts'

/** Returns a URL for errors and logs: without user, password, query and fragment. */
export const cleanUrl = redactedUrl

/** Destination of a request without the parts that are not sent, and its credentials as a header. */
export interface Target {
  readonly target: URL
  readonly authorization: string | undefined
}

/**
 * Parses a URL. Throws a {@link TrunklineError} (`document_unreachable`) unless it is an http or https URL.
 */
export const parseTarget = (text: string): Target => {
  const target = URL.parse(text)
  if (!target || (target.protocol !== 'http:' && target.protocol !== 'https:')) {
    const url = cleanUrl(text)
    throw new TrunklineError('document_unreachable', `${url}: Only http and https URLs are fetched.`, {
      url,
      reason: 'scheme',
    })
  }
  const { username, password } = target
  const credentials = `${decodePart(username)}:${decodePart(password)}`
  const authorization =
    username || password ? `Basic ${Buffer.from(credentials).toString('base64')}` : undefined
  target.username = ''
  target.password = ''
  target.hash = ''
  return { target, authorization }
}

const decodePart = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/**
 * Returns the request to which a redirect leads; undefined for other responses. As in browsers and RFC 9110
 * section 15.4, 301 and 302 turn a POST into a GET, and 303 turns any request into a GET. Otherwise method
 * and body stay. User and password, and a document's own headers, are sent only to the same server (scheme,
 * host and port).
 */
export const nextRequest = (from: Outgoing, status: number, location: string): Outgoing | undefined => {
  if (![301, 302, 303, 307, 308].includes(status) || !location) return undefined
  const before = URL.parse(from.url)
  const to = URL.parse(location, from.url)
  const sameServer = before && to && to.origin === before.origin
  // Only an absolute location can lack the credentials: a relative one inherits them.
  if (sameServer && !to.username && !to.password) {
    to.username = before.username
    to.password = before.password
  }
  const { headers, ...rest } = from
  const next = {
    ...rest,
    url: to?.href ?? location,
    ...(headers && sameServer && { headers }),
  }
  if (status !== 303 && !(status < 303 && from.method === 'POST')) return next
  const { body: _, file: __, ...bare } = next
  return { ...bare, method: 'GET' }
}
