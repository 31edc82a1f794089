import { lookup, Resolver } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'
import type { SipUri } from '../uri.ts'

/** Finds every address that a host may lead to. `located`: SRV and NAPTR records count too (RFC 3263), as they do where no port is given. */
export type FindAddresses = (host: string, located: boolean) => Promise<readonly string[]>

/** What a guard works with. */
export interface DialGuardParts {
  /** Whether an address is public, or in a network that was allowed. */
  readonly addresses: { permits(address: string): boolean }
  /** Default: the system's DNS. */
  readonly find?: FindAddresses
}

/**
 * Which hosts a customer's document, or a caller, may make us send INVITEs to. What is private to us is not theirs to reach (a document
 * could search our network by it), unless the configuration names the network. Nobody asks about carriers and registered endpoints. A name
 * whose records change between this look and the agent's own gets through; what it reaches is one INVITE.
 */
export class DialGuard {
  #addresses: DialGuardParts['addresses']
  #find: FindAddresses

  constructor({ addresses, find = inDns }: DialGuardParts) {
    this.#addresses = addresses
    this.#find = find
  }

  /**
   * Why a URI may not be dialled; undefined where it may, or where nobody will be found. `closed`: places that may not be reached by any other
   * name or address either.
   */
  async objection(uri: DialledPlace, closed: readonly DialledPlace[] = []): Promise<string | undefined> {
    // The agent would go there, and not to the host (RFC 3261 section 19.1.1).
    if (uri.params.has('maddr')) return 'a URI with maddr may not be dialled'
    const found = await this.#addressesOf(uri)
    const refused = found.find((address) => !this.#addresses.permits(address))
    if (refused !== undefined) return `${refused} is in no network that may be dialled`
    if (found.length === 0 || closed.length === 0) return undefined
    // It takes one address for the same however it is written, IPv4 in IPv6, too.
    const taken = new BlockList()
    for (const address of (await Promise.all(closed.map((place) => this.#addressesOf(place)))).flat())
      taken.addAddress(address, familyOf(address))
    const shared = found.find((address) => taken.check(address, familyOf(address)))
    return shared === undefined ? undefined : `${shared} is somebody else's`
  }

  async #addressesOf({ host, port }: DialledPlace): Promise<readonly string[]> {
    return isIP(host) === 0 ? this.#find(host, port === undefined) : [host]
  }
}

/** What of a SIP URI says where it leads. */
export type DialledPlace = Pick<SipUri, 'host' | 'port' | 'params'>

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4')

/** Finds addresses by the system's DNS. */
export const inDns: FindAddresses = async (host, located) => {
  const resolver = new Resolver({ timeout: 2_000, tries: 1 })
  const names = located ? [host, ...(await servers(host, resolver))] : [host]
  return allOf(names.map(async (name) => (await lookup(name, { all: true })).map(({ address }) => address)))
}

/** The hosts that the SRV records of a name lead to. */
const servers = async (host: string, resolver: Resolver): Promise<readonly string[]> => {
  const pointers = await allOf([resolver.resolveNaptr(host)])
  const services = ['_sip._udp', '_sip._tcp', '_sips._tcp'].map((service) => `${service}.${host}`)
  const named = pointers.map(({ replacement }) => replacement).filter((name) => name !== '')
  const records = await allOf([...services, ...named].map((name) => resolver.resolveSrv(name)))
  return records.map(({ name }) => name)
}

/** What could be found; a look-up that fails finds nothing. */
const allOf = async <T>(lookups: readonly Promise<readonly T[]>[]): Promise<readonly T[]> =>
  (await Promise.allSettled(lookups)).flatMap((each) => (each.status === 'fulfilled' ? each.value : []))
