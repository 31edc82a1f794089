import type { IncomingMessage } from 'node:http'
import { NetworkSet } from '../../config/networks.ts'

/** The network address that a request comes from. */
export type SourceOf = (request: Pick<IncomingMessage, 'headers' | 'socket'>) => string

/** Makes it, for upgrades: the address nearest to us that is no trusted proxy's. Fastify does the same for all other requests. */
export const sourceFinder = (trustedProxies: readonly string[]): SourceOf => {
  const trusted = new NetworkSet(trustedProxies)
  return ({ headers, socket }) => {
    const forwarded = String(headers['x-forwarded-for'] ?? '').split(',')
    const way = [...forwarded, socket.remoteAddress ?? ''].map((each) => each.trim()).filter(Boolean)
    return way.findLast((address) => !trusted.has(address)) ?? way[0] ?? ''
  }
}
