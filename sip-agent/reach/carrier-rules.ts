import { ipv4PrefixBits, Networks, type Prefix, PrefixMap, requirePrefix } from '../ip/networks.ts'
import { isSipUri, parseUri } from '../message/uri.ts'
import type { SipReachCarrier } from './reach-settings.ts'
import type { TargetAddresses } from './target-addresses.ts'

/**
 * Minimum prefix length of a carrier's network that is closed to all others. Larger networks are not closed,
 * because they may hold half the internet.
 */
const minClosed = { ipv4: 16, ipv6: 32 } as const
/**
 * Minimum prefix length for a carrier that a customer created: a customer must not close large networks to
 * others.
 */
const minClosedGuarded = { ipv4: 24, ipv6: 48 } as const
/**
 * Minimum prefix length of a network that is open to the carrier's own dialogs: private networks may be
 * large.
 */
const minOpen = { ipv4: 8, ipv6: 7 } as const

/**
 * Addresses of one carrier: those that its own dialogs may reach, and those that are closed to all others.
 */
export class CarrierRules {
  readonly config: SipReachCarrier
  /** Networks that are closed to others. */
  readonly closed: readonly Prefix[]
  readonly #targets: TargetAddresses
  readonly #open: Networks

  /** Throws for a text that is not a network. */
  constructor(config: SipReachCarrier, targets: TargetAddresses) {
    this.config = config
    this.#targets = targets
    this.closed = closedNetworks(config).map(requirePrefix)
    this.#open = openNetworks(config.networks)
  }

  /** Canonical addresses of the targets, as far as they are known. */
  get targetAddresses(): readonly string[] {
    return this.config.targets.flatMap((uri) => this.#targets.of(uri))
  }

  /** Returns whether a canonical address is the address of a target. */
  hasTarget(address: string): boolean {
    return this.targetAddresses.includes(address)
  }

  /**
   * Returns whether an address and port are those of a target. The port must be the one in the target's URI,
   * or without one 5060 or 5061.
   */
  hasTargetAt(address: string, port: number): boolean {
    return this.config.targets.some((uri) => {
      if (!this.#targets.of(uri).includes(address)) return false
      const parsed = parseUri(uri, 'target')
      const own = isSipUri(parsed) ? parsed.port : undefined
      return own === undefined ? port === 5060 || port === 5061 : port === own
    })
  }

  /** Returns whether an address is that of a target, or in a network of the carrier. */
  isOpenTo(address: string): boolean {
    return this.hasTarget(address) || this.#open.has(address)
  }

  /** Whether the addresses of a target are unknown because its name servers did not answer. */
  get isUnknown(): boolean {
    return this.config.targets.some((uri) => this.#targets.isUnknown(uri))
  }
}

/** All carriers, by name and by address. The cost of a check does not depend on the number of carriers. */
export class CarrierIndex {
  readonly #carriers: readonly CarrierRules[]
  readonly #targets: TargetAddresses
  readonly #byName: ReadonlyMap<string, CarrierRules>
  readonly #byNetwork = new PrefixMap<CarrierRules[]>()
  #byTarget = new Map<string, CarrierRules[]>()
  #version = -1

  /** Throws for a text that is not a network. */
  constructor(configs: readonly SipReachCarrier[], targets: TargetAddresses) {
    this.#targets = targets
    this.#carriers = configs.map((config) => new CarrierRules(config, targets))
    this.#byName = new Map(this.#carriers.map((carrier) => [carrier.config.name, carrier]))
    for (const carrier of this.#carriers) {
      for (const prefix of carrier.closed) {
        this.#byNetwork.set(prefix, [...(this.#byNetwork.get(prefix) ?? []), carrier])
      }
    }
  }

  named(name: string): CarrierRules | undefined {
    return this.#byName.get(name)
  }

  /**
   * Returns the carriers that have a canonical address as a target, or in a network that is closed to others.
   */
  ownersOf(address: string): readonly CarrierRules[] {
    this.#refresh()
    return [...new Set([...(this.#byTarget.get(address) ?? []), ...this.#byNetwork.matching(address).flat()])]
  }

  /** A carrier of the configuration with unknown addresses, if any. */
  get unknown(): CarrierRules | undefined {
    return this.#carriers.find(({ config, isUnknown }) => !config.isGuarded && isUnknown)
  }

  #refresh(): void {
    if (this.#version === this.#targets.version) return
    this.#version = this.#targets.version
    this.#byTarget = new Map()
    for (const carrier of this.#carriers) {
      for (const address of new Set(carrier.targetAddresses)) {
        this.#byTarget.set(address, [...(this.#byTarget.get(address) ?? []), carrier])
      }
    }
  }
}

/**
 * Returns the networks of a carrier that are closed to all others. Throws for a text that is not a network.
 */
export const closedNetworks = ({
  isGuarded,
  networks,
}: Pick<SipReachCarrier, 'isGuarded' | 'networks'>): readonly string[] => {
  const least = isGuarded ? minClosedGuarded : minClosed
  return networks.filter((each) => isAtLeast(each, least))
}

/**
 * Returns the networks that are open to dialogs which began in them. Throws for a text that is not a network.
 */
export const openNetworks = (networks: readonly string[]): Networks =>
  new Networks(networks.filter((each) => isAtLeast(each, minOpen)))

const isAtLeast = (network: string, least: { readonly ipv4: number; readonly ipv6: number }): boolean => {
  const prefix: Prefix = requirePrefix(network)
  const bits = ipv4PrefixBits(prefix)
  return bits === undefined ? prefix.bits >= least.ipv6 : bits >= least.ipv4
}
