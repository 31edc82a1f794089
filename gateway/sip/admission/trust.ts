import { Networks } from '@trunkline/sip-agent/networks'
import { canonicalHost } from '../../../config/networks.ts'
import type { CarrierConfig, Config } from '../../../config/types.ts'
import type { DomainApp } from '../../directory/model/callers.ts'
import { CarrierNetworks } from './carrier-networks.ts'
import { allNetworks, knownNetworks, type NetworkList } from './known-networks.ts'

/** Configuration that makes networks known. */
export interface TrustConfig {
  readonly domains: readonly (NetworkList & { readonly challenge?: unknown })[]
  readonly carriers: readonly CarrierConfig[]
  readonly sip: {
    readonly registrar: Pick<Config['sip']['registrar'], 'domains'>
    /** Default: untrusted sources are asked for a password. */
    readonly shield?: Pick<Config['sip']['shield'], 'strangers'>
  }
}

/**
 * Response to untrusted sources that call a host they may not call. It is the same for every such host, so
 * that it reveals no hosts. `challenge`: some host admits callers by password. `refuse`: some host admits its
 * own networks only. `unknown`: every existing host is open to all.
 */
export type UntrustedResponse = 'challenge' | 'refuse' | 'unknown'

/** Networks that a project made known over the API. */
interface ProjectNetworks {
  readonly list: readonly string[]
  readonly networks: Networks
}

/** Known networks of domains and carriers, and the response to untrusted sources. */
export class Trust {
  #untrustedResponse: UntrustedResponse = 'unknown'
  readonly #carrierNetworks = new CarrierNetworks()
  readonly #ofFile = new Networks()
  /** Networks of API lists, by project. */
  #ofProjects: ReadonlyMap<string, ProjectNetworks> = new Map()
  #networks: readonly string[] = []
  readonly #registrar: ReadonlySet<string>
  #challengesUntrusted = true
  /** Parsed allow lists of domain applications, so that each list is parsed once. */
  readonly #allowed = new WeakMap<readonly string[], Networks>()

  /** Throws an Error that names an entry which is no network. */
  constructor(config: TrustConfig) {
    this.#registrar = new Set(config.sip.registrar.domains.map(canonicalHost))
    this.change(config)
  }

  /** Response to untrusted sources. */
  get untrustedResponse(): UntrustedResponse {
    return this.#untrustedResponse
  }

  /** Networks known to any project, each once, for the shield. API lists add a limited number. */
  get networks(): readonly string[] {
    return this.#networks
  }

  /**
   * Replaces the domains and carriers. Returns true if {@link networks} have changed. Throws as the
   * constructor does, and then changes nothing.
   */
  change(config: Omit<TrustConfig, 'sip'> & { readonly sip?: Pick<TrustConfig['sip'], 'shield'> }): boolean {
    const claim = this.#carrierNetworks.prepare(config.carriers)
    const known = knownNetworks(config)
    const ofProjects = new Map<string, ProjectNetworks>()
    for (const [project, list] of known.ofProjects) {
      const before = this.#ofProjects.get(project)
      // Unchanged lists of projects are kept, as parsing a list takes time.
      const isUnchanged = before !== undefined && isSame(list, before.list)
      ofProjects.set(project, isUnchanged ? before : { list, networks: new Networks(list) })
    }
    this.#ofFile.change(known.ofFile)
    claim()
    this.#ofProjects = ofProjects
    const networks = allNetworks(known)
    const changed = !isSame(networks, this.#networks)
    this.#networks = networks
    if (config.sip) this.#challengesUntrusted = config.sip.shield?.strangers !== 'refuse'
    const answer = responseToUntrusted(config.domains, networks.length > 0, this.#registrar.size > 0)
    this.#untrustedResponse = this.#challengesUntrusted ? answer : 'refuse'
    return changed
  }

  /**
   * Whether an address may be asked for a password. If the shield rejects untrusted sources, only addresses
   * in a list of the file may.
   */
  mayChallenge(source: string): boolean {
    return this.#challengesUntrusted || this.isListed(source)
  }

  /**
   * Whether a source address may send to a domain application. Without a list every source may send. Text
   * that is no address is rejected. Throws an Error that names a list entry which is no network.
   */
  isAllowed({ allow }: Pick<DomainApp, 'allow'>, source: string): boolean {
    if (allow === undefined) return true
    const networks = this.#allowed.get(allow) ?? new Networks(allow)
    this.#allowed.set(allow, networks)
    return networks.has(source)
  }

  /** Returns the project's carrier that has a source address in its networks; the first one of several. */
  carrierOf(source: string, projectId: string): CarrierConfig | undefined {
    return this.#carrierNetworks.carrierOf(source, projectId)
  }

  /** Returns the domain for calls to `tel:` URIs from an address; see `CarrierNetworks.telDomainOf`. */
  telDomainOf(source: string): string | undefined {
    return this.#carrierNetworks.telDomainOf(source)
  }

  /** Whether SIP endpoints register and call at a host (canonical). */
  isRegistrar(host: string): boolean {
    return this.#registrar.has(host)
  }

  /** Whether the address is in a list of the configuration file, of a domain or of a carrier. */
  isListed(source: string): boolean {
    return this.#ofFile.has(source)
  }

  /**
   * Whether the address is known to a project: it is in a list of the file, or in an API list of the project.
   */
  isKnownTo(projectId: string, source: string): boolean {
    return this.isListed(source) || this.#ofProjects.get(projectId)?.networks.has(source) === true
  }
}

/** Whether two lists hold the same networks; each holds a network once. */
const isSame = (some: readonly string[], others: readonly string[]): boolean => {
  const present = new Set(others)
  return some.length === others.length && some.every((network) => present.has(network))
}

const responseToUntrusted = (
  domains: TrustConfig['domains'],
  somebodyIsKnown: boolean,
  hasRegistrar: boolean,
): UntrustedResponse => {
  if (hasRegistrar) return 'challenge'
  if (domains.some(({ allow, challenge }) => allow === undefined && challenge)) return 'challenge'
  const allOpen = domains.length > 0 && domains.every(({ allow }) => allow === undefined)
  return allOpen || !somebodyIsKnown ? 'unknown' : 'refuse'
}
