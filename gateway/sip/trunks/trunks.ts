import type { Metrics } from '../../core/metrics.ts'
import type { Carrier } from './carrier.ts'
import type { CarrierDirectory, CarriersChange } from './carrier-directory.ts'
import { registrationOf } from './carrier-registration.ts'
import { registrationStates } from './outbound-registration.ts'
import { Probe } from './probe.ts'
import type { TrunkDeps } from './trunk-deps.ts'

/**
 * Registrations start at random times within a window. The window grows by `spreadMs` for each registration,
 * up to `maxSpreadMs`.
 */
const spreadMs = 200
const maxSpreadMs = 30_000

/** Pings and registration of one carrier. */
interface Trunk {
  readonly probes: readonly Probe[]
  readonly made: ReturnType<typeof registrationOf>
}

/** Collaborators of {@link Trunks}. */
export interface TrunksDeps extends Omit<TrunkDeps, 'random'> {
  readonly carriers: CarrierDirectory
  readonly metrics: Pick<Metrics, 'gauges'>
  /** Returns a random number from 0 to below 1; default `Math.random`. */
  readonly random?: TrunkDeps['random']
}

/** Pings the targets of carriers, and registers with carriers. */
export class Trunks {
  readonly #deps: TrunkDeps
  #trunks = new Map<Carrier, Trunk>()
  #state: 'new' | 'started' | 'over' = 'new'
  #drained: Promise<void> | undefined

  constructor({ carriers, metrics, requests, clock, log, random = Math.random }: TrunksDeps) {
    this.#deps = { requests, clock, log, random }
    for (const carrier of carriers.all) this.#add(carrier)
    carriers.onChange((change) => this.#change(change))
    metrics.gauges('carrier_up', ['carrier', 'target'], () =>
      carriers.all.flatMap(({ name, targets }) =>
        // A target of unknown health has no sample, so that no alert takes it for up or down.
        targets.flatMap(({ text, state }) =>
          state === 'unknown'
            ? []
            : { labels: { carrier: name, target: text }, value: Number(state === 'up') },
        ),
      ),
    )
    metrics.gauges('carrier_calls', ['carrier'], () =>
      carriers.all.map(({ name, load }) => ({ labels: { carrier: name }, value: load.calls })),
    )
    metrics.gauges('registration_state', ['carrier', 'state'], () =>
      [...this.#trunks].flatMap(([{ name }, { made }]) =>
        made
          ? registrationStates.map((state) => ({
              labels: { carrier: name, state },
              value: Number(made.registration.state === state),
            }))
          : [],
      ),
    )
  }

  /** Starts pings and registrations. The agent must be connected. */
  start(): void {
    this.#state = 'started'
    this.#begin([...this.#trunks.values()])
  }

  /** Unregisters. Resolves when each carrier has responded or its request has timed out. Idempotent. */
  drain(): Promise<void> {
    this.#state = 'over'
    this.#drained ??= Promise.all([...this.#trunks.values()].map(unregister)).then(() => {})
    return this.#drained
  }

  /** Stops pings and registrations without sending a message. Idempotent. */
  close(): void {
    this.#state = 'over'
    for (const trunk of this.#trunks.values()) {
      stopProbes(trunk)
      trunk.made?.registration.stop()
      trunk.made?.giveUp()
    }
  }

  #add(carrier: Carrier): Trunk {
    const rules = carrier.config.probe
    const probes = rules ? carrier.targets.map((target) => new Probe(this.#deps, carrier, target, rules)) : []
    const made = registrationOf(carrier, this.#deps)
    if (made) {
      carrier.isRejected = () => made.registration.state === 'rejected'
      carrier.registrationState = () => made.registration.state
    }
    const trunk = { probes, made }
    this.#trunks.set(carrier, trunk)
    return trunk
  }

  #change({ added, removed }: CarriersChange): void {
    if (this.#state === 'over') return
    const ends = new Map(removed.map((carrier) => [carrier.name, this.#end(carrier)]))
    const begun = added.map((carrier) => ({ carrier, trunk: this.#add(carrier) }))
    if (this.#state !== 'started') return
    this.#begin(begun.filter(({ carrier }) => !ends.has(carrier.name)).map(({ trunk }) => trunk))
    // A new registration starts only after the old registration was removed. A later removal would end the
    // new registration as well.
    for (const { carrier, trunk } of begun)
      void ends.get(carrier.name)?.then(() => {
        if (this.#state === 'started' && this.#trunks.get(carrier) === trunk) this.#begin([trunk])
      })
  }

  /** Stops the pings of a carrier, and unregisters. Resolves like {@link unregister}. */
  async #end(carrier: Carrier): Promise<void> {
    const trunk = this.#trunks.get(carrier)
    this.#trunks.delete(carrier)
    if (!trunk) return
    stopProbes(trunk)
    await unregister(trunk)
  }

  #begin(trunks: readonly Trunk[]): void {
    for (const { probes } of trunks) for (const probe of probes) probe.start()
    const registrations = trunks.flatMap(({ made }) => (made ? [made.registration] : []))
    const window = Math.min(registrations.length * spreadMs, maxSpreadMs)
    for (const registration of registrations) registration.start(this.#deps.random() * window)
  }
}

const stopProbes = ({ probes }: Trunk): void => {
  for (const probe of probes) probe.stop()
}

/** Unregisters. Resolves when the carrier has confirmed the removal, or its request has timed out. */
const unregister = ({ made }: Trunk): Promise<void> =>
  new Promise((resolve) => (made ? made.registration.stop(() => resolve()) : resolve()))
