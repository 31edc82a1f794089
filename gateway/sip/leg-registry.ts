import type { Cause } from '../core/errors/catalogue.ts'
import type { Connection } from './agent-link.ts'

/** A leg's far side as the registry knows it. */
export interface RegisteredLeg {
  readonly connection: Connection
  /** Ends the leg as if its call had done so. */
  hangUp(cause: Cause): void
  /** The connection to the agent is gone for good. */
  lost(): void
}

/** The far sides that exist. */
export interface LegRegistry {
  add(leg: RegisteredLeg): void
  delete(leg: RegisteredLeg): void
}

/** The far sides that exist. Each takes itself out when nothing is left of it. */
export class LegSet implements LegRegistry {
  #all = new Set<RegisteredLeg>()
  #empty: (() => void)[] = []

  get size(): number {
    return this.#all.size
  }

  add(leg: RegisteredLeg): void {
    this.#all.add(leg)
  }

  delete(leg: RegisteredLeg): void {
    this.#all.delete(leg)
    if (this.#all.size === 0) for (const resolve of this.#empty.splice(0)) resolve()
  }

  /** Resolves as soon as there is none. */
  empty(): Promise<void> {
    if (this.#all.size === 0) return Promise.resolve()
    return new Promise((resolve) => this.#empty.push(resolve))
  }

  /** Ends all of them, by a word to their far sides. */
  hangUp(cause: Cause): void {
    for (const leg of [...this.#all]) leg.hangUp(cause)
  }

  /** Ends those of one connection, or all of them. */
  lost(connection?: Connection): void {
    for (const leg of [...this.#all]) if (!connection || leg.connection === connection) leg.lost()
  }
}
