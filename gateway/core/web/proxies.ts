import type { IncomingMessage } from 'node:http'
import { isIP, isIPv4, isIPv6 } from 'node:net'
import { NetworkSet } from '../../../config/networks.ts'

/** The network address that a request comes from. */
export type SourceOf = (request: Pick<IncomingMessage, 'headers' | 'socket'>) => string

const header = 'x-forwarded-for'

/**
 * Makes it, for upgrades: the address nearest to us that is no trusted proxy's. Fastify does the same for all
 * other requests.
 */
export const sourceFinder = (trustedProxies: readonly string[]): SourceOf => {
  const trusted = new NetworkSet(trustedProxies)
  return ({ headers, socket }) => {
    const way = [...forwardedOf(headers), socket.remoteAddress ?? ''].filter(Boolean)
    return way.findLast((address) => !trusted.has(address)) ?? way[0] ?? ''
  }
}

/** Proxies that are believed, for Fastify: it asks of each address on the way. */
export class TrustedProxies {
  #networks = new NetworkSet([])
  #any = false

  constructor(networks: readonly string[]) {
    this.change(networks)
  }

  /** Believes these networks from now on. */
  change(networks: readonly string[]): void {
    this.#networks = new NetworkSet(networks)
    this.#any = networks.length > 0
  }

  /** Whether an address is that of a proxy which is believed. */
  readonly trusts = (address: string): boolean => this.#any && this.#networks.has(address)
}

/**
 * Takes the ports out of `X-Forwarded-For`, which some proxies put there: whoever reads it afterwards finds
 * addresses alone.
 */
export const dropForwardedPorts = ({ headers }: Pick<IncomingMessage, 'headers'>): void => {
  if (headers[header] !== undefined) headers[header] = forwardedOf(headers).join(', ')
}

const forwardedOf = (headers: IncomingMessage['headers']): readonly string[] =>
  String(headers[header] ?? '')
    .split(',')
    .map((entry) => addressOf(entry.trim()))

/**
 * `192.0.2.1:4711`, `[2001:db8::1]:4711` and `[2001:db8::1]` without what is no address; anything else as it
 * is.
 */
const addressOf = (entry: string): string => {
  if (isIP(entry) !== 0) return entry
  const { v4, v6 } = /^(?:(?<v4>[^:[\]]+):\d{1,5}|\[(?<v6>[^\]]+)\](?::\d{1,5})?)$/.exec(entry)?.groups ?? {}
  if (v4 !== undefined && isIPv4(v4)) return v4
  return v6 !== undefined && isIPv6(v6) ? v6 : entry
}
