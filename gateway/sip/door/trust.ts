import { canonicalHost } from '../../../config/networks.ts'
import type { CarrierConfig, Config } from '../../../config/types.ts'
import { buildAllowlist, listHas } from './allowlist.ts'

/** What of the configuration says who is known by the address. */
export type TrustConfig = Pick<Config, 'domains' | 'carriers'> & {
  readonly sip: { readonly registrar: Pick<Config['sip']['registrar'], 'domains'> }
}

/**
 * What strangers get who call where they may not. It is one answer for every such host, so that nobody learns which of them exist:
 * `challenge` where some host lets in whoever shows the right password, `refuse` where some host lets in its own networks alone, and
 * `unknown` where there is nothing to find out, as whoever calls may call every host that there is.
 */
export type StrangersGet = 'challenge' | 'refuse' | 'unknown'

/** Who is where, by the networks of the configuration. */
export class Trust {
  readonly strangersGet: StrangersGet
  readonly #carriers: readonly {
    readonly carrier: CarrierConfig
    readonly list: ReturnType<typeof buildAllowlist>
  }[]
  readonly #registrar: ReadonlySet<string>
  readonly #known: ReturnType<typeof buildAllowlist>

  /** Throws an Error that names an entry which is no network. */
  constructor(config: TrustConfig) {
    this.strangersGet = strangersGet(config)
    this.#registrar = new Set(config.sip.registrar.domains.map(canonicalHost))
    this.#known = buildAllowlist(knownNetworks(config))
    this.#carriers = config.carriers
      .filter(({ allow }) => allow.length > 0)
      .map((carrier) => ({ carrier, list: buildAllowlist(carrier.allow) }))
  }

  /** The carrier that a source address is of; the first one where several claim it. */
  carrierOf(source: string): CarrierConfig | undefined {
    return this.#carriers.find(({ list }) => listHas(list, source))?.carrier
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

/** The networks of those who may send: every allow list, of domains and of carriers. */
export const knownNetworks = ({ domains, carriers }: Pick<Config, 'domains' | 'carriers'>): string[] => [
  ...new Set([...domains.flatMap(({ allow }) => allow ?? []), ...carriers.flatMap(({ allow }) => allow)]),
]

const strangersGet = ({ domains, carriers, sip }: TrustConfig): StrangersGet => {
  if (sip.registrar.domains.length > 0) return 'challenge'
  if (domains.some(({ allow, challenge }) => allow === undefined && challenge)) return 'challenge'
  const allOpen = domains.length > 0 && domains.every(({ allow }) => allow === undefined)
  return allOpen || knownNetworks({ domains, carriers }).length === 0 ? 'unknown' : 'refuse'
}
