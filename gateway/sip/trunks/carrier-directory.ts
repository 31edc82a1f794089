import { isDeepStrictEqual } from 'node:util'
import { closedNetworks } from '@trunkline/sip-agent'
import type { CarrierConfig } from '../../../config/types.ts'
import type { Clock } from '../../core/clock.ts'
import type { SipUri } from '../../core/sip-uri.ts'
import type { Target } from '../../model.ts'
import { Carrier } from './carrier.ts'
import type { ClosedPlaces } from './dial-guard.ts'
import { type NumberRules, numberOf, userWrittenFor } from './dialled-number.ts'

/**
 * Rules that leave the dialled number unchanged. The rules of the carrier are applied later, when the URI is
 * routed.
 */
const asItIs: NumberRules = { prefix: '', plus: 'keep' }

/** Carriers that a change added and removed. A changed carrier is in both lists, as different objects. */
export interface CarriersChange {
  readonly added: readonly Carrier[]
  readonly removed: readonly Carrier[]
}

/** Carriers of all projects. A call never uses another project's carrier. */
export class CarrierDirectory {
  #byName: ReadonlyMap<string, Carrier>
  #clock: Pick<Clock, 'now'>
  #listeners = new Set<(change: CarriersChange) => void>()

  constructor(configs: readonly CarrierConfig[], clock: Pick<Clock, 'now'>) {
    this.#clock = clock
    this.#byName = new Map(configs.map((config) => [config.name, new Carrier(config, clock)]))
  }

  get all(): readonly Carrier[] {
    return [...this.#byName.values()]
  }

  /**
   * Replaces the carriers. An unchanged carrier keeps its state. A changed carrier keeps only its call
   * counts; its calls in progress keep the former settings.
   */
  change(configs: readonly CarrierConfig[]): void {
    const before = this.#byName
    this.#byName = new Map(
      configs.map((config) => [config.name, this.#made(config, before.get(config.name))]),
    )
    const added = without(this.#byName, before)
    const removed = without(before, this.#byName)
    if (added.length + removed.length === 0) return
    for (const listener of this.#listeners) listener({ added, removed })
  }

  /** Calls `listener` at each effective {@link change}. */
  onChange(listener: (change: CarriersChange) => void): void {
    this.#listeners.add(listener)
  }

  byName(name: string): Carrier | undefined {
    return this.#byName.get(name)
  }

  /**
   * Returns the project's carrier with a target at the URI's host and, if the URI has a port, at that port.
   */
  of(uri: SipUri, projectId: string): Carrier | undefined {
    return this.all.find((carrier) => carrier.isOf(projectId) && carrier.targetOf(uri))
  }

  /**
   * Returns the hosts and networks of other projects' carriers, which the project must not call. Such a
   * carrier may trust the gateway's address, and charge the call to the other project. `by`: kind of the
   * call, without a carrier (`call`) or by a carrier of the project (`carrier`). Two projects may use the
   * same provider, so carriers made over the API are closed to calls without a carrier only.
   */
  closedTo(projectId: string, by: 'call' | 'carrier'): ClosedPlaces {
    const closed = this.all.filter(({ config }) => !config.guarded || (by === 'call' && !config.auth))
    const foreign = closed.filter((carrier) => !carrier.isOf(projectId))
    return {
      places: foreign.flatMap(({ targets }) => targets.map(({ uri }) => uri)),
      networks: foreign.flatMap(({ config: { allow, guarded } }) =>
        closedNetworks({ networks: allow, isGuarded: guarded === true }),
      ),
    }
  }

  /**
   * Returns the targets of those carriers of the project that have number lists. A call to such a host
   * without the carrier, by a different port or name, would bypass the lists.
   */
  listedOf(projectId: string): readonly SipUri[] {
    return this.all
      .filter((carrier) => carrier.config.numbers && carrier.isOf(projectId))
      .flatMap(({ targets }) => targets.map(({ uri }) => uri))
  }

  /**
   * Returns the SIP target of a telephone number, through the project's default carrier. Returns undefined if
   * the text is no telephone number, or the project has no default carrier.
   */
  numberTarget(text: string, projectId: string): Extract<Target, { kind: 'sip' }> | undefined {
    const carrier = this.all.find((each) => each.config.default && each.isOf(projectId))
    const number = carrier && numberOf(text)
    const [first] = carrier?.targets ?? []
    if (!carrier || number === undefined || !first) return undefined
    const user = userWrittenFor(number, text, asItIs)
    return { kind: 'sip', uri: first.requestUri(user), carrier: carrier.name }
  }

  #made(config: CarrierConfig, present: Carrier | undefined): Carrier {
    return present && isDeepStrictEqual(present.config, config)
      ? present
      : new Carrier(config, this.#clock, present?.load)
  }
}

/** Returns the carriers that `others` lacks or has as a different object. */
const without = (carriers: ReadonlyMap<string, Carrier>, others: ReadonlyMap<string, Carrier>): Carrier[] =>
  [...carriers.values()].filter((carrier) => others.get(carrier.name) !== carrier)
