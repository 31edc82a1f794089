import { lookup, Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import { Networks } from '@trunkline/sip-agent/networks'
import type { SipUri } from '../../core/sip-uri.ts'

/**
 * Finds every address of a host. `located`: whether NAPTR and SRV records are followed as well (RFC 3263), as
 * for a URI without a port.
 */
export type FindAddresses = (host: string, located: boolean) => Promise<readonly string[]>

/** Hosts and networks that must not be called, by whatever name or address. */
export interface ClosedPlaces {
  readonly places: readonly DialledHost[]
  /** Networks in CIDR notation. */
  readonly networks: readonly string[]
}

/** Collaborators of {@link DialGuard}. */
export interface DialGuardDeps {
  /**
   * Whether the agent checks every address again before use. A call is then not rejected because of a failed
   * look-up. Default false.
   */
  readonly isRecheckedByAgent?: boolean
  /** Whether an address is public, or in a permitted network. */
  readonly addresses: { permits(address: string): boolean }
  /** Finds the addresses of a host; default: by the system's DNS. */
  readonly find?: FindAddresses
}

/**
 * Decides which hosts a customer's document or a caller may dial. Private networks are closed unless the
 * configuration permits them, so that no document can scan them by calls. Carriers of the operator and
 * registered endpoints are not checked. The embedded agent resolves the name again, and checks its addresses.
 * A drachtio-server does not: if the records of a name change after this check, a call can reach a closed
 * address.
 */
export class DialGuard {
  #addresses: DialGuardDeps['addresses']
  #find: FindAddresses
  #isJudgedAgain: boolean

  constructor({ addresses, find = inAnsweringDns, isRecheckedByAgent = false }: DialGuardDeps) {
    this.#addresses = addresses
    this.#find = find
    this.#isJudgedAgain = isRecheckedByAgent
  }

  /**
   * Returns the reason why a URI may not be dialled; undefined if it may, or if its host has no address.
   * `closed`: further places that may not be dialled.
   */
  async objection(uri: DialledHost, closed?: ClosedPlaces): Promise<string | undefined> {
    // The agent would send to the address in maddr instead of the host (RFC 3261 section 19.1.1).
    if (uri.params.has('maddr')) return 'a URI with maddr may not be dialled'
    try {
      return await this.#objection(uri, closed)
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      return this.#isJudgedAgain ? undefined : `its addresses could not be looked up: ${reason}`
    }
  }

  async #objection(uri: DialledHost, closed: ClosedPlaces | undefined): Promise<string | undefined> {
    const found = await this.#addressesOf(uri)
    const refused = found.find((address) => !this.#addresses.permits(address))
    if (refused !== undefined) return `${refused} is in no network that may be dialled`
    if (found.length === 0 || !closed) return undefined
    const addresses = await Promise.all(closed.places.map((place) => this.#addressesOf(place)))
    // `Networks` compares addresses in every notation, including IPv4 addresses mapped into IPv6.
    const taken = new Networks([...addresses.flat(), ...closed.networks])
    const shared = found.find((address) => taken.has(address))
    return shared === undefined ? undefined : `${shared} is that of a carrier, and closed to calls without it`
  }

  async #addressesOf({ host, port }: DialledHost): Promise<readonly string[]> {
    return isIP(host) === 0 ? this.#find(host, port === undefined) : [host]
  }
}

/** Parts of a SIP URI that decide its destination. */
export type DialledHost = Pick<SipUri, 'host' | 'port' | 'params'>

/** Waits for several look-ups, and joins their results. */
type Gather = <T>(lookups: readonly Promise<readonly T[]>[]) => Promise<readonly T[]>

const findBy =
  (gather: Gather): FindAddresses =>
  async (host, located) => {
    const resolver = new Resolver({ timeout: 2_000, tries: 1 })
    const names = located ? [host, ...(await servers(host, resolver, gather))] : [host]
    return gather(
      names.map(async (name) => (await lookup(name, { all: true })).map(({ address }) => address)),
    )
  }

/** Returns the hosts in the SRV records of a name, which are also found by its NAPTR records. */
const servers = async (host: string, resolver: Resolver, gather: Gather): Promise<readonly string[]> => {
  const pointers = await gather([resolver.resolveNaptr(host)])
  const services = ['_sip._udp', '_sip._tcp', '_sips._tcp'].map((service) => `${service}.${host}`)
  const named = pointers.map(({ replacement }) => replacement).filter((name) => name !== '')
  const records = await gather([...services, ...named].map((name) => resolver.resolveSrv(name)))
  return records.map(({ name }) => name)
}

/** Error codes of a look-up for a name without such a record. */
const absent: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA'])

const whatIsFound: Gather = async (lookups) =>
  (await Promise.allSettled(lookups)).flatMap((each) => (each.status === 'fulfilled' ? each.value : []))

/** Joins the results. Rejects if a look-up has failed; a name without records is no failure. */
const everything: Gather = async (lookups) =>
  (await Promise.allSettled(lookups)).flatMap((each) => {
    if (each.status === 'fulfilled') return each.value
    if (absent.has(each.reason?.code)) return []
    throw each.reason
  })

/** Finds addresses by the system's DNS. A failed look-up finds no address. */
export const inDns: FindAddresses = findBy(whatIsFound)

/** Finds addresses as {@link inDns} does, but rejects if a look-up fails. */
const inAnsweringDns: FindAddresses = findBy(everything)
