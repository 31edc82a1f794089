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

/** An address with the time that it may be kept, in seconds. */
export interface DnsAddress {
  readonly address: string
  readonly ttl: number
}

/** What is asked of DNS. Every promise rejects where there is no such record, as those of `node:dns` do. */
export interface Dns {
  naptr(name: string): Promise<readonly Naptr[]>
  srv(name: string): Promise<readonly Srv[]>
  addresses(name: string, family: 4 | 6): Promise<readonly DnsAddress[]>
}

/** How long what the hosts file says is kept, in seconds: the file may change. */
const hostsTtl = 30

/**
 * DNS through c-ares: unlike `dns.lookup` it does not take the few threads on which files are read too. Names of the hosts file go
 * before. A server that does not answer is given up after about 3 s.
 */
export class SystemDns implements Dns {
  readonly #resolver = new Resolver({ timeout: 1_000, tries: 2 })
  #closed = false

  /** `servers` are `address[:port]`; default those of the system. */
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
    // RFC 6761 6.4: what browsers put into their Via and Contact is never found.
    if (name.endsWith('.invalid')) return []
    const options = { ttl: true } as const
    return this.#ask((resolver) =>
      family === 4 ? resolver.resolve4(name, options) : resolver.resolve6(name, options),
    )
  }

  /** Gives up what is still asked; from then on everything is rejected with `ECANCELLED`. */
  close(): void {
    this.#closed = true
    this.#resolver.cancel()
  }

  /** What waited for something else, such as a file, must not begin a query that outlives the end, and holds up the thread's. */
  async #ask<T>(query: (resolver: Resolver) => Promise<T>): Promise<T> {
    if (this.#closed) throw Object.assign(new Error('the agent ends'), { code: CANCELLED })
    return query(this.#resolver)
  }
}
