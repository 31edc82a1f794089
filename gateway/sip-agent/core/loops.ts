import { hash, randomBytes } from 'node:crypto'
import type { SipRequest } from '../message/message.ts'

/** Known to this agent alone, so that nobody can make a request look as if it had been here. */
const key = randomBytes(12).toString('hex')

/**
 * What a request's Via branch ends with: a mark of this agent and of the request-uri (RFC 3261 16.6, step 8). With another request-uri the
 * request that comes back has been routed anew, as from one number of ours to another (a spiral), and is welcome.
 */
export const loopMark = (uri: string): string => `.${hash('sha256', key + uri).slice(0, 12)}`

/** True where a request has been sent by this agent before, to the same request-uri (RFC 3261 16.3, step 4). */
export const hasLooped = (request: SipRequest): boolean => {
  if (request.toTag !== '') return false
  const mark = loopMark(request.uri)
  return request.headers.all('via').some((value) => value.includes(mark))
}
