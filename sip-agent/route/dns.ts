import { CANCELLED, Resolver } from 'node:dns/promises'
import { hostsFileAddresses } from './hosts.ts'
import type { Srv } from './srv.ts'

/** One NAPTR record (RFC 3403). */
export interface Naptr {
  readonly flags: string
  readonly service: string
  readonly regexp: string
  readonly replacement: string
  readonly order: number
  readonly preference: number
}

/** Address with its TTL in seconds. */
export interface DnsAddress {
  readonly address: string
  readonly ttl: number
}

/** DNS queries. Every promise rejects if there is no such record, like those of `node:dns`. */
export interface Dns {
  naptr(name: string): Promise<readonly Naptr[]>
  srv(name: string): Promise<readonly Srv[]>
  addresses(name: string, family: 4 | 6): Promise<readonly DnsAddress[]>
}

/** TTL in seconds of entries of the hosts file, which may change. */
const hostsTtl = 30

/**
 * DNS through c-ares. Unlike `dns.lookup`, it does not use the few threads that also read files. Names of the
 * hosts file take precedence. A query to a server that does not answer fails after about 3 s.
 */
export class SystemDns implements Dns {
  readonly #resolver = new Resolver({ timeout: 1_000, tries: 2 })
  #isClosed = false

  /** `servers`: list of `address[:port]`; default: the servers of the system. */
  constructor(servers?: readonly string[]) {
    if (servers) this.#resolver.setServers(servers)
  }

  naptr(name: string): Promise<readonly Naptr[]> {
    return this.#ask((resolver) => resolver.resolveNaptr(name))
  }

  srv(name: string): Promise<readonly Srv[]> {
    return this.#ask((resolver) => resolver.resolveSrv(name))
  }

  async addresses(name: string, family: 4 | 6): Promise<readonly DnsAddress[]> {
    const listed = await hostsFileAddresses(name, family)
    if (listed.length > 0) return listed.map((address) => ({ address, ttl: hostsTtl }))
    // RFC 6761 6.4: names under `.invalid`, which browsers put into their Via and Contact, never resolve.
    if (name.endsWith('.invalid')) return []
    const options = { ttl: true } as const
    return this.#ask((resolver) =>
      family === 4 ? resolver.resolve4(name, options) : resolver.resolve6(name, options),
    )
  }

  /** Cancels open queries. Later queries reject with `ECANCELLED`. */
  close(): void {
    this.#isClosed = true
    this.#resolver.cancel()
  }

  /**
   * Sends a query unless the resolver is closed. A query that is sent after the end, for instance once the
   * hosts file was read, would keep the thread alive.
   */
  async #ask<T>(query: (resolver: Resolver) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw Object.assign(new Error('the agent is closing'), { code: CANCELLED })
    return query(this.#resolver)
  }
}
