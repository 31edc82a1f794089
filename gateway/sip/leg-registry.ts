import type { Cause } from '../core/errors/catalogue.ts'
import type { Connection } from './agent-link.ts'

/** SIP side of a leg, as the registry sees it. */
export interface RegisteredLeg {
  readonly connection: Connection
  /** Ends the leg as if its call had done so. */
  hangUp(cause: Cause): void
  /** Called when the connection to the agent is lost for good. */
  lost(): void
}

/** Registry of the SIP sides that exist. */
export interface LegRegistry {
  add(leg: RegisteredLeg): void
  delete(leg: RegisteredLeg): void
}

/** Set of the SIP sides that exist. Each side removes itself when its last message is done. */
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

  /** Resolves as soon as the set is empty. */
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
