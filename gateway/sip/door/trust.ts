import { canonicalHost } from '../../../config/networks.ts'
import type { CarrierConfig, Config } from '../../../config/types.ts'
import { bitsOfIPv4, Networks, readPrefix } from '../../networks.ts'
import { Claims } from './claims.ts'

/** Shortest prefixes, by bits, of networks by which a customer can make somebody known. */
const shortestPrefix = { ipv4: 16, ipv6: 32 } as const

/** What says who is known by the address. */
export interface TrustConfig {
  readonly domains: readonly {
    readonly allow?: readonly string[] | undefined
    readonly challenge?: unknown
    /** A customer made it over the API. */
    readonly guarded?: boolean
  }[]
  readonly carriers: readonly CarrierConfig[]
  readonly sip: { readonly registrar: Pick<Config['sip']['registrar'], 'domains'> }
}

/**
 * What strangers get who call where they may not. It is one answer for every such host, so that nobody learns which of them exist:
 * `challenge` where some host lets in whoever shows the right password, `refuse` where some host lets in its own networks alone, and
 * `unknown` where there is nothing to find out, as whoever calls may call every host that there is.
 */
export type StrangersGet = 'challenge' | 'refuse' | 'unknown'

/** Who is where, by the networks of domains and carriers. */
export class Trust {
  #strangersGet: StrangersGet = 'unknown'
  readonly #claims = new Claims()
  readonly #known = new Networks()
  #networks: readonly string[] = []
  readonly #registrar: ReadonlySet<string>

  /** Throws an Error that names an entry which is no network. */
  constructor(config: TrustConfig) {
    this.#registrar = new Set(config.sip.registrar.domains.map(canonicalHost))
    this.change(config)
  }

  /** What strangers get. */
  get strangersGet(): StrangersGet {
    return this.#strangersGet
  }

  /** The networks of those who may send, each once. */
  get networks(): readonly string[] {
    return this.#networks
  }

  /**
   * These are the domains and carriers from now on; true where {@link networks} are others than before. Throws as the constructor does, with
   * everything as it was.
   */
  change(config: Pick<TrustConfig, 'domains' | 'carriers'>): boolean {
    const claim = this.#claims.prepare(config.carriers)
    const networks = knownNetworks(config)
    const changed = this.#known.change(networks)
    claim()
    this.#networks = networks
    this.#strangersGet = strangersGet(config.domains, networks.length > 0, this.#registrar.size > 0)
    return changed
  }

  /** The project's carrier that a source address is of; the first one where several claim it. */
  carrierOf(source: string, projectId: string): CarrierConfig | undefined {
    return this.#claims.carrierOf(source, projectId)
  }

  /** Whether SIP endpoints register and call at a host (canonical). */
  isRegistrar(host: string): boolean {
    return this.#registrar.has(host)
  }

  /** Whether the address stands in any list, of a domain or of a carrier. */
  knows(source: string): boolean {
    return this.#known.has(source)
  }
}

/**
 * The networks of those who may send: every allow list, of domains and of carriers. Half the internet in the list of one customer makes
 * nobody known to all the others.
 */
export const knownNetworks = ({ domains, carriers }: Pick<TrustConfig, 'domains' | 'carriers'>): string[] => [
  ...new Set(
    [...domains, ...carriers].flatMap(({ allow = [], guarded }) =>
      guarded ? allow.filter(isNarrow) : allow,
    ),
  ),
]

const isNarrow = (network: string): boolean => {
  // Nearly all of them; there may be very many.
  if (!network.includes(':')) return Number(network.split('/')[1] ?? 32) >= shortestPrefix.ipv4
  // IPv4 can be written as a part of IPv6 too.
  const prefix = readPrefix(network)
  const bits = bitsOfIPv4(prefix)
  return bits === undefined ? prefix.bits >= shortestPrefix.ipv6 : bits >= shortestPrefix.ipv4
}

const strangersGet = (
  domains: TrustConfig['domains'],
  somebodyIsKnown: boolean,
  hasRegistrar: boolean,
): StrangersGet => {
  if (hasRegistrar) return 'challenge'
  if (domains.some(({ allow, challenge }) => allow === undefined && challenge)) return 'challenge'
  const allOpen = domains.length > 0 && domains.every(({ allow }) => allow === undefined)
  return allOpen || !somebodyIsKnown ? 'unknown' : 'refuse'
}
