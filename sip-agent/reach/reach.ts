import { AddressGuard } from '../address-guard.ts'
import type { Clock } from '../clock.ts'
import type { Networks } from '../networks.ts'
import type { Dns } from '../route/dns.ts'
import type { Hop } from '../route/types.ts'
import type { SipReach } from '../types.ts'
import { canonicalAddress } from './addresses.ts'
import { CarrierIndex, type CarrierRules, openNetworks } from './carrier-rules.ts'
import type { FarEnd } from './far-end.ts'
import { TargetAddresses } from './target-addresses.ts'

/** Part of a hop that a judgement is about. */
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
 * Rules on where requests may go. Far ends write Record-Route and Contact as they like, and customers dial names that they control.
 * Carriers know the gateway by its address alone, so a request that reaches one is a call at a project's expense. Every place is judged
 * by the address that it is sent to. Without settings every place is permitted.
 */
export class Reach {
  readonly #targets: TargetAddresses
  #rules: Rules | undefined

  /** `fault` receives errors of requests that wait for a judgement. */
  constructor(options: { dns: Dns; clock: Clock; fault: (error: unknown) => void; settings?: SipReach }) {
    this.#targets = new TargetAddresses(options)
    if (options.settings) this.change(options.settings)
  }

  /** Takes new settings; they hold for dialogs in progress too. Throws, and changes nothing, for a network that is none. */
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

  /** Ends all judgements that wait for DNS, without an answer. */
  close(): void {
    this.#targets.close()
  }

  /**
   * Judges the places of a request outside dialogs; one that is not permitted refuses all. `done` receives the reason, or undefined where
   * the request may go. Called at once unless DNS has to be asked. A request without a far end is the gateway's own, and may go anywhere.
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
   * Selects the places that a request within a dialog may go to. `home` is the address at which the dialog began, which is always
   * permitted. `done` is called at once unless DNS has to be asked.
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

/** True for a carrier of the configuration: the operator vouches for its targets. */
const isDeclared = (farEnd: FarEnd, { carriers }: Rules): boolean =>
  farEnd.kind === 'carrier' && carriers.named(farEnd.name)?.config.isGuarded === false

/** Reason why a customer's request may not go to a place; undefined where it may. */
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

/** True for a carrier that is closed to other projects: one of the configuration, or one that knows the gateway by its address alone. */
const isClosedTo = (farEnd: FarEnd, { config }: CarrierRules): boolean => {
  if (!config.isGuarded) return true
  // Two projects may have the same provider: each calls it by a carrier of its own.
  return farEnd.kind === 'project' && config.isByAddress
}

/**
 * True where a direct call would go round the limits and number rules of the project's own carrier. Private addresses are shared by
 * services of a laboratory or a small site, so the port counts there.
 */
const isBypassed = (carrier: CarrierRules, address: string, port: number, { internet }: Rules): boolean => {
  const { isByAddress, hasNumberLists = false } = carrier.config
  if (!isByAddress && !hasNumberLists) return false
  return internet.permits(address) ? carrier.hasTarget(address) : carrier.hasTargetAt(address, port)
}

/** True where a request of a dialog that began at `home` may go to another address. */
const mayFollow = (farEnd: FarEnd | undefined, home: string, address: string, rules: Rules): boolean => {
  const { carriers, sites, permitted } = rules
  const owners = carriers.ownersOf(address)
  const named = farEnd?.kind === 'carrier' ? carriers.named(farEnd.name) : undefined
  // The first address tells for carriers of the configuration alone: a customer's list may hold anything.
  const own = [...(named ? [named] : []), ...carriers.ownersOf(home)]
  const declared = own.filter(({ config }) => !config.isGuarded)
  if (declared.some((carrier) => owners.includes(carrier))) return true
  if (owners.length > 0)
    return named !== undefined && ownsAlone(named, owners, address) && permitted.permits(address)
  if (declared.some((carrier) => carrier.isOpenTo(address))) return true
  if (sites.some((site) => site.has(home) && site.has(address))) return true
  return carriers.unknown === undefined && permitted.permits(address)
}

/** True where a customer's carrier may have an address as its own: no carrier of the configuration has it, and others only beside its target. */
const ownsAlone = (carrier: CarrierRules, owners: readonly CarrierRules[], address: string): boolean => {
  if (carrier.hasTarget(address)) return owners.every(({ config }) => config.isGuarded)
  return owners.every((each) => each === carrier)
}
