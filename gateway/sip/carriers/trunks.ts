import type { Clock } from '../../clock.ts'
import type { Log } from '../../log.ts'
import type { Metrics } from '../../metrics.ts'
import type { SrfLike } from '../srf.ts'
import type { Carriers } from './carriers.ts'
import { Probe } from './probe.ts'
import { registrationStates } from './registration.ts'
import { registrationOf } from './registrations.ts'

/** What the trunks work with. */
export interface TrunksParts {
  readonly carriers: Carriers
  readonly srf: Pick<SrfLike, 'request'>
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Pick<Metrics, 'gauges'>
  readonly userAgent: string
  /** From 0 to below 1; default the machine's. */
  readonly random?: () => number
}

/** Registrations begin within a window of so much for each of them, and no more than half a minute. */
const spreadMs = 200
const longestSpreadMs = 30_000

/** What goes on with carriers outside calls: pings of their targets, and our registrations. */
export class Trunks {
  #random: () => number
  #probes: readonly Probe[]
  #registrations: readonly { carrier: string; made: NonNullable<ReturnType<typeof registrationOf>> }[]
  #drained: Promise<void> | undefined

  constructor(parts: TrunksParts) {
    const { carriers, metrics, random = Math.random } = parts
    this.#random = random
    const shared = { ...parts, random }
    this.#probes = carriers.all.flatMap((carrier) => {
      const rules = carrier.config.probe
      return rules ? carrier.targets.map((target) => new Probe({ ...shared, carrier, target, rules })) : []
    })
    this.#registrations = carriers.all.flatMap((carrier) => {
      const made = registrationOf(carrier, shared)
      if (!made) return []
      carrier.isRejected = () => made.registration.state === 'rejected'
      return [{ carrier: carrier.name, made }]
    })
    metrics.gauges('carrier_up', ['carrier', 'target'], () =>
      carriers.all.flatMap(({ name, targets }) =>
        targets.map(({ text, isUp }) => ({ labels: { carrier: name, target: text }, value: Number(isUp) })),
      ),
    )
    metrics.gauges('carrier_calls', ['carrier'], () =>
      carriers.all.map(({ name, load }) => ({ labels: { carrier: name }, value: load.calls })),
    )
    metrics.gauges('registration_state', ['carrier', 'state'], () =>
      this.#registrations.flatMap(({ carrier, made }) =>
        registrationStates.map((state) => ({
          labels: { carrier, state },
          value: Number(made.registration.state === state),
        })),
      ),
    )
  }

  /** Begins; the agent must be connected. */
  start(): void {
    for (const probe of this.#probes) probe.start()
    const window = Math.min(this.#registrations.length * spreadMs, longestSpreadMs)
    for (const { made } of this.#registrations) made.registration.start(this.#random() * window)
  }

  /** Takes the registrations back; resolves when the carriers have answered, or will not. Idempotent. */
  drain(): Promise<void> {
    this.#drained ??= Promise.all(
      this.#registrations.map(
        ({ made }) => new Promise<void>((resolve) => made.registration.stop(() => resolve())),
      ),
    ).then(() => {})
    return this.#drained
  }

  /** Stops everything without a word. Idempotent. */
  close(): void {
    for (const probe of this.#probes) probe.stop()
    for (const { made } of this.#registrations) {
      made.registration.stop()
      made.giveUp()
    }
  }
}
