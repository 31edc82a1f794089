import { urlForPeople } from '../../handlers/common/urls.ts'
import { TrunklineError } from '../errors.ts'
import type { Outgoing } from './customer-http.ts'

/** A URL for errors and logs: without user, password, query and fragment. */
export const cleanUrl = urlForPeople

/** Where a request goes, without what must not be sent, and the credentials as a header. */
export interface Target {
  readonly target: URL
  readonly authorization: string | undefined
}

/** Takes a URL apart. Throws a {@link TrunklineError} (`document_unreachable`) when it is no http or https URL. */
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
 * The request that a redirect leads to; undefined when the answer is none. 301, 302 and 303 turn a POST into a GET, as browsers and
 * RFC 9110 section 15.4 have it; 307 and 308 keep method and body. A relative location keeps the credentials of the URL it came from,
 * a full one has its own or none.
 */
export const nextRequest = (from: Outgoing, status: number, location: string): Outgoing | undefined => {
  if (![301, 302, 303, 307, 308].includes(status) || !location) return undefined
  const url = URL.parse(location, from.url)?.href ?? location
  if (status === 307 || status === 308) return { ...from, url }
  return { url, method: 'GET' }
}
