import { hash, randomBytes } from 'node:crypto'
import type { SipRequest } from '../message/message.ts'

/**
 * Secret of this agent. A peer that knows it could make the agent reject another peer's request as a loop.
 */
const key = randomBytes(12).toString('hex')

/** Suffix of the Via branch of every request that the agent itself creates. */
export const ownMark = `.${key.slice(0, 12)}`

/**
 * Returns the suffix of the branch of a forwarded request. The suffix identifies the agent and the
 * request-URI (RFC 3261 16.6, step 8). A request that returns with a different request-URI is a spiral, not a
 * loop, and is accepted.
 */
export const loopMark = (uri: string): string => `.${hash('sha256', key + uri).slice(0, 12)}`

/**
 * Returns whether a new request has passed through this agent before (RFC 3261 16.3, step 4). For a request
 * that the agent itself created, returns true even if the request-URI has changed. Such a request has the
 * Call-ID and From tag of an existing call, and an application identifies a dialog by these two alone.
 */
export const hasLooped = (request: SipRequest): boolean => {
  const vias = request.toTag === '' && request.vias > 1 ? request.headers.all('via') : []
  if (vias.length === 0) return false
  const mark = loopMark(request.uri)
  return vias.some((value) => value.includes(ownMark) || value.includes(mark))
}
