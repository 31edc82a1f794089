import type { Hop, Protocol } from '../transport/types.ts'
import { defaultPort } from '../transport/types.ts'
import type { Naptr } from './dns.ts'
import type { DnsCache } from './dns-cache.ts'
import { orderSrv } from './srv.ts'
import type { BoundTransports, Target } from './target.ts'

/** Transports by their names in NAPTR records (RFC 3263 4.1). */
const services: Readonly<Record<string, Protocol>> = { 'sip+d2u': 'udp', 'sip+d2t': 'tcp', 'sips+d2t': 'tls' }
/** Transports with their names in SRV records, in order of preference. */
const labels: readonly (readonly [Protocol, string])[] = [
  ['udp', '_sip._udp'],
  ['tcp', '_sip._tcp'],
  ['tls', '_sips._tcp'],
]
/** Maximum number of records that are followed, so that DNS answers cannot cause endless queries. */
const maxRecords = 16
/** Maximum number of addresses for one request: on failover, each of them gets a copy of the request. */
const maxHops = 16

interface ServerAddress {
  readonly protocol: Protocol
  readonly name: string
  readonly port: number
}

/** Finds the hops of a name (RFC 3263 4.1 and 4.2). */
export class HopFinder {
  readonly #dns: DnsCache
  readonly #reach: BoundTransports
  readonly #random: () => number

  constructor(dns: DnsCache, reach: BoundTransports, random: () => number) {
    this.#dns = dns
    this.#reach = reach
    this.#random = random
  }

  /** Returns the hops of a target that is a name, best first. Never rejects. */
  async hops(target: Target): Promise<Hop[]> {
    const name = target.address.toLowerCase().replace(/\.$/, '')
    this.#warm(target, name)
    const places = target.port === undefined ? await this.#places(target, name) : undefined
    if (places) return this.#addresses(places, target.host)
    const { protocol } = target
    const place = { protocol, name, port: target.port ?? defaultPort(protocol) }
    const hops = await this.#addresses([place], target.host)
    return target.isTransportFixed ? hops : hops.map((hop) => this.enlarged(hop))
  }

  /** Adds the TCP hop for large requests if neither the URI nor DNS chose UDP (RFC 3261 18.1.1). */
  enlarged(hop: Hop): Hop {
    const family = hop.address.includes(':') ? 6 : 4
    if (hop.protocol !== 'udp' || !this.#reach.reaches('tcp', family)) return hop
    return { ...hop, overTcp: { ...hop, protocol: 'tcp', isTentative: true } }
  }

  /** Starts all queries that may be needed, so that one slow server delays only its own answer. */
  #warm(target: Target, name: string): void {
    void this.#lookUp(target.protocol, name)
    if (target.port !== undefined) return
    if (!target.isTransportFixed) void this.#dns.naptr(name)
    for (const [protocol, label] of this.#wanted(target)) {
      if (this.#reach.reaches(protocol)) void this.#dns.srv(`${label}.${name}`)
    }
  }

  /** Returns the SRV services of a target. */
  #wanted({ isTransportFixed, protocol, isSecure }: Target) {
    return labels.filter(([each]) => (isTransportFixed || isSecure ? each === protocol : true))
  }

  /** Returns the servers of a name by NAPTR and SRV; undefined if DNS has neither. */
  async #places(target: Target, name: string): Promise<ServerAddress[] | undefined> {
    const records = target.isTransportFixed ? [] : await this.#dns.naptr(name)
    const listed = records.filter(({ service }) => /^sips?\+d2/i.test(service))
    const ways =
      listed.length > 0
        ? this.#byNaptr(listed, target.isSecure)
        : this.#wanted(target).map(([protocol, label]) => ({ protocol, name: `${label}.${name}` }))
    const bound = ways.filter((way) => this.#reach.reaches(way.protocol)).slice(0, maxRecords)
    const lists = await Promise.all(bound.map((way) => this.#servers(way.protocol, way.name)))
    const places = lists.flatMap((list) => list ?? [])
    // If a NAPTR or SRV record exists but names no usable target, the address records of the name must not be
    // used.
    const said = listed.length > 0 ? bound.length === 0 : lists.some((list) => list !== undefined)
    return places.length > 0 || said ? places : undefined
  }

  #byNaptr(records: readonly Naptr[], secure: boolean) {
    const sorted = [...records].sort((a, b) => a.order - b.order || a.preference - b.preference)
    return sorted.flatMap(({ flags, service, regexp, replacement }) => {
      const protocol = services[service.toLowerCase()]
      if (!protocol || flags.toLowerCase() !== 's' || regexp !== '' || replacement === '') return []
      if (secure && protocol !== 'tls') return []
      return [{ protocol, name: replacement.toLowerCase() }]
    })
  }

  /** Returns the servers of one SRV name, in the order of attempts; undefined if there is no such record. */
  async #servers(protocol: Protocol, name: string): Promise<ServerAddress[] | undefined> {
    const records = await this.#dns.srv(name)
    if (records.length === 0) return undefined
    // RFC 2782: a target of "." means that the service does not exist; `node:dns` returns an empty name for
    // it.
    const there = records.filter((each) => each.name !== '' && each.name !== '.' && each.port > 0)
    const ordered = orderSrv(there.slice(0, maxRecords), this.#random)
    return ordered.map((each) => ({ protocol, name: each.name.toLowerCase(), port: each.port }))
  }

  async #addresses(places: readonly ServerAddress[], host: string): Promise<Hop[]> {
    const lists = await Promise.all(
      places.slice(0, maxRecords).map(async ({ protocol, name, port }) => {
        const found = await this.#lookUp(protocol, name)
        return found.map((address): Hop => ({ protocol, address, port, host }))
      }),
    )
    const seen = new Set<string>()
    const different = lists.flat().filter(({ protocol, address, port }) => {
      const key = `${protocol}|${address}|${port}`
      return !seen.has(key) && seen.add(key)
    })
    return different.slice(0, maxHops)
  }

  /**
   * Returns the addresses of a name in the bound families; IPv4 first, because carriers' IPv6 is less tested.
   */
  async #lookUp(protocol: Protocol, name: string): Promise<string[]> {
    const families = ([4, 6] as const).filter((family) => this.#reach.reaches(protocol, family))
    const lists = await Promise.all(families.map((family) => this.#dns.addresses(name, family)))
    return lists.flatMap((list) => list.slice(0, maxRecords).map(({ address }) => address))
  }
}
