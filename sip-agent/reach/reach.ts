import type { Clock } from '../clock.ts'
import { canonicalAddress } from '../ip/address.ts'
import { AddressGuard } from '../ip/address-guard.ts'
import type { Networks } from '../ip/networks.ts'
import type { Dns } from '../route/dns.ts'
import type { Hop } from '../transport/types.ts'
import { CarrierIndex, type CarrierRules, openNetworks } from './carrier-rules.ts'
import type { FarEnd } from './far-end.ts'
import type { SipReach } from './reach-settings.ts'
import { TargetAddresses } from './target-addresses.ts'

/** Address and port of a hop. */
export type Destination = Pick<Hop, 'address' | 'port'>

interface Rules {
  /** Public addresses, and the private networks of the settings. */
  readonly permitted: AddressGuard
  /** Public addresses alone. */
  readonly internet: AddressGuard
  readonly carriers: CarrierIndex
  readonly sites: readonly Networks[]
}

/**
 * Rules on the destinations of requests. Far ends may write anything into Record-Route and Contact, and
 * customers dial names that they control. Some carriers identify the gateway by its address alone, so a
 * request that reaches one is a call at a project's expense. Every destination is checked by its address.
 * Without settings every destination is permitted.
 */
export class Reach {
  readonly #targets: TargetAddresses
  #rules: Rules | undefined

  /** `fault` receives errors of requests that wait for a decision. */
  constructor(options: { dns: Dns; clock: Clock; fault: (error: unknown) => void; settings?: SipReach }) {
    this.#targets = new TargetAddresses(options)
    if (options.settings) this.change(options.settings)
  }

  /**
   * Applies new settings, also to existing dialogs. Throws, and changes nothing, for a text that is not a
   * network.
   */
  change({ networks, carriers, sites = [] }: SipReach): void {
    const rules = {
      permitted: new AddressGuard(networks),
      internet: new AddressGuard([]),
      carriers: new CarrierIndex(carriers, this.#targets),
      sites: sites.map(openNetworks),
    }
    this.#targets.change(carriers.flatMap(({ targets }) => targets))
    this.#rules = rules
  }

  /** Ends all waits for DNS without a decision. */
  close(): void {
    this.#targets.close()
  }

  /**
   * Checks the hops of a request outside dialogs; all of them must be permitted. `done` receives the reason
   * for a rejection, or undefined if the request is permitted. It is called at once unless DNS is queried. A
   * request without a far end comes from the gateway itself, and is always permitted.
   */
  outside(
    farEnd: FarEnd | undefined,
    places: readonly Destination[],
    done: (objection?: string) => void,
  ): void {
    const rules = this.#rules
    const guarded = rules && farEnd && !isDeclared(farEnd, rules)
    if (!rules || !guarded || places.length === 0) {
      done()
      return
    }
    this.#targets.prepare(() => {
      const objections = places.map((place) => objectionOutside(farEnd, place, rules))
      done(objections.find((each) => each !== undefined))
    })
  }

  /**
   * Selects the permitted hops of a request within a dialog. `home` is the address at which the dialog began,
   * which is always permitted. `done` is called at once unless DNS is queried.
   */
  within<Given extends Destination>(
    farEnd: FarEnd | undefined,
    home: string,
    places: readonly Given[],
    done: (permitted: readonly Given[]) => void,
  ): void {
    const rules = this.#rules
    const own = canonicalAddress(home)
    const isHome = ({ address }: Destination) => canonicalAddress(address) === own
    if (!rules || places.every(isHome)) {
      done(places)
      return
    }
    this.#targets.prepare(() => {
      const may = (place: Destination) =>
        isHome(place) || mayFollow(farEnd, own, canonicalAddress(place.address), rules)
      done(places.filter(may))
    })
  }
}

/** Returns whether a far end is a carrier of the configuration: the operator vouches for its targets. */
const isDeclared = (farEnd: FarEnd, { carriers }: Rules): boolean =>
  farEnd.kind === 'carrier' && carriers.named(farEnd.name)?.config.isGuarded === false

/** Returns the reason for rejecting a customer's request to a destination; undefined if it is permitted. */
const objectionOutside = (farEnd: FarEnd, place: Destination, rules: Rules): string | undefined => {
  const address = canonicalAddress(place.address)
  if (!rules.permitted.permits(address)) return `${place.address} is in no network that may be dialled`
  const owners = rules.carriers.ownersOf(address)
  const project = farEnd.kind === 'project' ? farEnd.id : projectOf(farEnd.name, rules)
  const isOwn = ({ config }: CarrierRules) => config.project === undefined || config.project === project
  const foreign = owners.find((carrier) => !isOwn(carrier) && isClosedTo(farEnd, carrier))
  if (foreign) return `${place.address} is that of a carrier of another project`
  if (farEnd.kind === 'carrier') return undefined
  const own = owners.find((carrier) => isOwn(carrier) && isBypassed(carrier, address, place.port, rules))
  if (own)
    return `${place.address} is that of carrier ${own.config.name}, and calls to it go by the carrier alone`
  const { unknown } = rules.carriers
  return unknown && `the addresses of carrier ${unknown.config.name} cannot be looked up`
}

const projectOf = (name: string, { carriers }: Rules): string | undefined =>
  carriers.named(name)?.config.project

/**
 * Returns whether a carrier's addresses are closed to this far end of another project. Carriers of the
 * configuration are always closed. Carriers that identify the gateway by its address alone are closed to
 * direct calls.
 */
const isClosedTo = (farEnd: FarEnd, { config }: CarrierRules): boolean => {
  if (!config.isGuarded) return true
  // Two projects may use the same provider: each calls it by its own carrier.
  return farEnd.kind === 'project' && config.isByAddress
}

/**
 * Returns whether a direct call would bypass the limits and number rules of the project's own carrier. At a
 * laboratory or a small site, several services may share one private address, so for private addresses the
 * port counts too.
 */
const isBypassed = (carrier: CarrierRules, address: string, port: number, { internet }: Rules): boolean => {
  const { isByAddress, hasNumberLists = false } = carrier.config
  if (!isByAddress && !hasNumberLists) return false
  return internet.permits(address) ? carrier.hasTarget(address) : carrier.hasTargetAt(address, port)
}

/** Returns whether a request of a dialog that began at `home` may go to another address. */
const mayFollow = (farEnd: FarEnd | undefined, home: string, address: string, rules: Rules): boolean => {
  const { carriers, sites, permitted } = rules
  const owners = carriers.ownersOf(address)
  const named = farEnd?.kind === 'carrier' ? carriers.named(farEnd.name) : undefined
  // The carriers that own the address `home` count only if they are in the configuration, because a customer
  // may list any network.
  const own = [...(named ? [named] : []), ...carriers.ownersOf(home)]
  const declared = own.filter(({ config }) => !config.isGuarded)
  if (declared.some((carrier) => owners.includes(carrier))) return true
  if (owners.length > 0)
    return named !== undefined && ownsAlone(named, owners, address) && permitted.permits(address)
  if (declared.some((carrier) => carrier.isOpenTo(address))) return true
  if (sites.some((site) => site.has(home) && site.has(address))) return true
  return carriers.unknown === undefined && permitted.permits(address)
}

/**
 * Returns whether no other carrier prevents a customer's carrier from using an address. A target of the
 * carrier must not belong to a carrier of the configuration; any other address must belong to no other
 * carrier.
 */
const ownsAlone = (carrier: CarrierRules, owners: readonly CarrierRules[], address: string): boolean => {
  if (carrier.hasTarget(address)) return owners.every(({ config }) => config.isGuarded)
  return owners.every((each) => each === carrier)
}
