import { isIPv6 } from 'node:net'
import type { SteadyClock, Timer } from '../../core/clock.ts'
import type { SipEndpoint } from '../../directory/model/callers.ts'
import type { SignallingSource } from '../signalling-source.ts'
import {
  applyRegister,
  type Binding,
  type BindingLimits,
  type RegisterOutcome,
  type RegisterRequest,
} from './bindings.ts'

/** Returns the source of a REGISTER as a next hop. */
export const nextHopOf = ({ transport, address, port }: SignallingSource): string =>
  `sip:${isIPv6(address) ? `[${address}]` : address}:${port};transport=${transport}`

/** Options of {@link Registrations}. */
export interface RegistrationsOptions {
  readonly limits: BindingLimits
  /** Maximum number of contacts of all endpoints together; default 50,000. */
  readonly maxBindings?: number
  /** Clock of the time-outs of registrations, separate from the clock of calls. */
  readonly clock: SteadyClock
}

/** Endpoint with its secrets. */
export type Registrant = Pick<SipEndpoint, 'id' | 'secrets'>

interface Entry {
  /** Secrets at the time of the registration. */
  readonly secrets: SipEndpoint['secrets']
  readonly bindings: readonly Binding[]
  /** Fires when the first binding expires. */
  readonly timer: Timer
}

/**
 * Registered contacts, by endpoint, in memory only: after a restart an endpoint is reachable once it
 * registers again.
 */
export class Registrations {
  readonly #options: RegistrationsOptions
  readonly #entries = new Map<string, Entry>()
  #size = 0

  constructor(options: RegistrationsOptions) {
    this.#options = options
  }

  /** Number of contacts of all endpoints together. */
  get size(): number {
    return this.#size
  }

  /** Every contact that has not expired. */
  *all(): Iterable<Binding> {
    for (const endpointId of this.#entries.keys()) yield* this.of(endpointId)
  }

  /** The contacts of an endpoint that have not expired, the preferred contacts first. */
  of(endpointId: string): readonly Binding[] {
    const now = this.#options.clock.uptime()
    const bindings = this.#entries.get(endpointId)?.bindings ?? []
    return bindings.filter(({ expiresAt }) => expiresAt > now)
  }

  /** Applies a REGISTER of an authenticated endpoint. `full`: no room for more contacts. */
  apply(
    { id: endpointId, secrets }: Registrant,
    registration: RegisterRequest,
  ): RegisterOutcome | { readonly kind: 'full' } {
    const { limits, clock, maxBindings = 50_000 } = this.#options
    const before = this.of(endpointId)
    const outcome = applyRegister(before, registration, limits, clock.uptime())
    if (outcome.kind !== 'bindings') return outcome
    const { bindings } = outcome
    const held = this.#entries.get(endpointId)?.bindings.length ?? 0
    if (bindings.length > before.length && this.#size - held + bindings.length > maxBindings)
      return { kind: 'full' }
    this.#set(endpointId, bindings, secrets)
    return { kind: 'bindings', bindings: this.of(endpointId) }
  }

  /**
   * Removes the contacts that were registered over a lost connection. `hop`: the connection, as returned by
   * {@link nextHopOf}.
   */
  disconnected(endpointId: string, hop: string): void {
    const left = this.of(endpointId).filter(
      ({ source }) => source.transport === 'udp' || nextHopOf(source) !== hop,
    )
    this.#set(endpointId, left)
  }

  /**
   * Removes all contacts of an endpoint that was removed, or whose password has changed since the
   * registration.
   */
  changed(endpointId: string, endpoint: Registrant | undefined): void {
    const entry = this.#entries.get(endpointId)
    if (entry && !(endpoint && areSame(entry.secrets, endpoint.secrets))) this.#set(endpointId, [])
  }

  /** Removes all contacts. Idempotent. */
  close(): void {
    for (const { timer } of this.#entries.values()) timer.cancel()
    this.#entries.clear()
    this.#size = 0
  }

  #set(
    endpointId: string,
    bindings: readonly Binding[],
    secrets = this.#entries.get(endpointId)?.secrets,
  ): void {
    const old = this.#entries.get(endpointId)
    old?.timer.cancel()
    this.#size += bindings.length - (old?.bindings.length ?? 0)
    if (bindings.length === 0 || !secrets) {
      this.#entries.delete(endpointId)
      return
    }
    const { clock } = this.#options
    const first = Math.min(...bindings.map(({ expiresAt }) => expiresAt))
    const timer = clock.after(Math.max(1, first - clock.uptime()), () =>
      this.#set(endpointId, this.of(endpointId)),
    )
    const sorted = bindings.toSorted((a, b) => b.q - a.q)
    this.#entries.set(endpointId, { bindings: sorted, timer, secrets })
  }
}

const areSame = (some: SipEndpoint['secrets'], others: SipEndpoint['secrets']): boolean =>
  some.size === others.size && [...some].every(([realm, { sha256 }]) => others.get(realm)?.sha256 === sha256)
