import { hash, randomBytes } from 'node:crypto'
import type { SipRequest } from '../message/message.ts'

/** Known to this agent alone, so that no stranger can have a request of somebody else refused. */
const key = randomBytes(12).toString('hex')

/** What the Via branch of every request that this agent itself makes ends with. */
export const ownMark = `.${key.slice(0, 12)}`

/**
 * What the branch of a request that the agent sends on ends with: a mark of the agent and of the request-uri (RFC 3261 16.6, step 8). Where it
 * comes back with another request-uri it has been routed anew (a spiral), and is welcome.
 */
export const loopMark = (uri: string): string => `.${hash('sha256', key + uri).slice(0, 12)}`

/**
 * True for a new request that has been here before (RFC 3261 16.3, step 4). One that the agent itself made is refused with another
 * request-uri too, though that is no loop: it has the Call-ID and From tag of the call that it comes from, and an application knows a
 * dialog by these two alone.
 */
export const hasLooped = (request: SipRequest): boolean => {
  const vias = request.toTag === '' && request.vias > 1 ? request.headers.all('via') : []
  if (vias.length === 0) return false
  const mark = loopMark(request.uri)
  return vias.some((value) => value.includes(ownMark) || value.includes(mark))
}
