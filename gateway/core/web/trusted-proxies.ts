import type { IncomingMessage } from 'node:http'
import { isIP, isIPv4, isIPv6 } from 'node:net'
import { Networks } from '@trunkline/sip-agent/networks'

const header = 'x-forwarded-for'

/** Trusted proxies, as Fastify checks each address of `X-Forwarded-For`. */
export class TrustedProxies {
  #networks = new Networks([])
  #any = false

  constructor(networks: readonly string[]) {
    this.change(networks)
  }

  /** Sets the networks of trusted proxies. */
  change(networks: readonly string[]): void {
    this.#networks = new Networks(networks)
    this.#any = networks.length > 0
  }

  /** Whether an address belongs to a trusted proxy. */
  readonly trusts = (address: string): boolean => this.#any && this.#networks.has(address)

  /**
   * Returns the source of a WebSocket upgrade: the last address that is not a trusted proxy. For other
   * requests Fastify finds it.
   */
  sourceOf({ headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>): string {
    const way = [...forwardedOf(headers), socket.remoteAddress ?? ''].filter(Boolean)
    return way.findLast((address) => !this.trusts(address)) ?? way[0] ?? ''
  }
}

/** Removes ports from `X-Forwarded-For`, which some proxies add. */
export const dropForwardedPorts = ({ headers }: Pick<IncomingMessage, 'headers'>): void => {
  if (headers[header] !== undefined) headers[header] = forwardedOf(headers).join(', ')
}

const forwardedOf = (headers: IncomingMessage['headers']): readonly string[] =>
  String(headers[header] ?? '')
    .split(',')
    .map((entry) => addressOf(entry.trim()))

/**
 * Returns the address of `192.0.2.1:4711`, `[2001:db8::1]:4711` or `[2001:db8::1]`; any other text unchanged.
 */
const addressOf = (entry: string): string => {
  if (isIP(entry) !== 0) return entry
  const { v4, v6 } = /^(?:(?<v4>[^:[\]]+):\d{1,5}|\[(?<v6>[^\]]+)\](?::\d{1,5})?)$/.exec(entry)?.groups ?? {}
  if (v4 !== undefined && isIPv4(v4)) return v4
  return v6 !== undefined && isIPv6(v6) ? v6 : entry
}
