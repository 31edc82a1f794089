import { canonicalHost } from '../../../config/networks.ts'
import type { CarrierConfig, Config } from '../../../config/types.ts'
import { buildAllowlist, listHas } from './allowlist.ts'

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
  #carriers: readonly {
    readonly carrier: CarrierConfig
    readonly list: ReturnType<typeof buildAllowlist>
  }[] = []
  #known = buildAllowlist([])
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

  /** These are the domains and carriers from now on. Throws as the constructor does, with everything as it was. */
  change(config: Pick<TrustConfig, 'domains' | 'carriers'>): void {
    const known = buildAllowlist(knownNetworks(config))
    this.#carriers = config.carriers
      .filter(({ allow }) => allow.length > 0)
      .map((carrier) => ({ carrier, list: buildAllowlist(carrier.allow) }))
    this.#known = known
    this.#strangersGet = strangersGet(config, this.#registrar.size > 0)
  }

  /** The project's carrier that a source address is of; the first one where several claim it. */
  carrierOf(source: string, projectId: string): CarrierConfig | undefined {
    return this.#carriers.find(({ carrier, list }) => isOf(carrier, projectId) && listHas(list, source))
      ?.carrier
  }

  /** Whether SIP endpoints register and call at a host (canonical). */
  isRegistrar(host: string): boolean {
    return this.#registrar.has(host)
  }

  /** Whether the address stands in any list, of a domain or of a carrier. */
  knows(source: string): boolean {
    return listHas(this.#known, source)
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
  const [address = '', prefix] = network.split('/')
  const family = address.includes(':') ? 'ipv6' : 'ipv4'
  return prefix === undefined || Number(prefix) >= shortestPrefix[family]
}

const isOf = ({ project }: CarrierConfig, projectId: string): boolean =>
  project === undefined || project === projectId

const strangersGet = (
  { domains, carriers }: Pick<TrustConfig, 'domains' | 'carriers'>,
  hasRegistrar: boolean,
): StrangersGet => {
  if (hasRegistrar) return 'challenge'
  if (domains.some(({ allow, challenge }) => allow === undefined && challenge)) return 'challenge'
  const allOpen = domains.length > 0 && domains.every(({ allow }) => allow === undefined)
  return allOpen || knownNetworks({ domains, carriers }).length === 0 ? 'unknown' : 'refuse'
}
