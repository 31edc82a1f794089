import { newLegId } from '../calls/call/ids.ts'
import { Leg } from '../calls/leg/leg.ts'
import type { Clock } from '../core/clock.ts'
import type { Cause } from '../core/errors/catalogue.ts'
import type { Party } from '../model.ts'
import type { Connection } from './agent-link.ts'

/** SIP side of a leg, as {@link SipLegs} sees it. */
export interface RegisteredLeg {
  readonly connection: Connection
  /** Ends the leg as if its call had done so. */
  hangUp(cause: Cause): void
  /** Called when the connection to the agent is lost for good. */
  lost(): void
}

/** Makes the SIP legs of the gateway, and keeps the SIP side of each until its last message is complete. */
export class SipLegs {
  readonly #clock: Pick<Clock, 'now'>
  readonly #all = new Set<RegisteredLeg>()
  #waiting: (() => void)[] = []

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  /** Number of SIP sides. */
  get size(): number {
    return this.#all.size
  }

  /** Makes a leg in state `new`, without a SIP side. */
  create(direction: Leg['direction'], from: Party, to: Party): Leg {
    return new Leg({ id: newLegId(), kind: 'sip', direction, from, to, now: () => this.#clock.now() })
  }

  add(leg: RegisteredLeg): void {
    this.#all.add(leg)
  }

  delete(leg: RegisteredLeg): void {
    this.#all.delete(leg)
    if (this.#all.size === 0) for (const resolve of this.#waiting.splice(0)) resolve()
  }

  /** Resolves as soon as no SIP side exists. */
  empty(): Promise<void> {
    if (this.#all.size === 0) return Promise.resolve()
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** Ends all legs by a message to their peers. */
  hangUp(cause: Cause): void {
    for (const leg of [...this.#all]) leg.hangUp(cause)
  }

  /** Ends the legs of a lost connection; default: the legs of all connections. */
  lost(connection?: Connection): void {
    for (const leg of [...this.#all]) if (!connection || leg.connection === connection) leg.lost()
  }
}
