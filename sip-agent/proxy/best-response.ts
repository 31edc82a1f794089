import { Headers } from '../message/headers.ts'
import type { SipResponse } from '../message/message.ts'

/** 4xx statuses that help the caller to send a better request (RFC 3261 16.7, step 6). */
const helpful = new Set([401, 407, 415, 420, 484])

const rank = ({ status }: SipResponse): number => {
  if (status >= 600) return 0
  const kind = Math.floor(status / 100) * 1_000
  return helpful.has(status) ? kind : kind + status
}

/** Returns the best of several final responses other than 2xx; of equally good ones, the first. */
export const bestResponse = (responses: readonly SipResponse[]): SipResponse | undefined => {
  const [first, ...more] = responses
  if (!first) return undefined
  const best = more.reduce((found, each) => (rank(each) < rank(found) ? each : found), first)
  if (best.status === 401 || best.status === 407) return withChallenges(best, responses)
  // RFC 3261 16.7: a 503 concerns one server only, so the caller receives a 500.
  return best.status === 503 ? { ...best, status: 500, reason: 'Server Internal Error' } : best
}

/**
 * Adds the challenges of all branches, so that the caller can answer them at once (RFC 3261 16.7, step 7).
 */
const withChallenges = (best: SipResponse, all: readonly SipResponse[]): SipResponse => {
  const headers = new Headers()
  for (const { name, value } of best.headers.list()) headers.append(name, value)
  for (const other of all) {
    if (other === best || (other.status !== 401 && other.status !== 407)) continue
    for (const { name, key, value } of other.headers.list())
      if (key === 'www-authenticate' || key === 'proxy-authenticate') headers.append(name, value)
  }
  return { ...best, headers }
}
