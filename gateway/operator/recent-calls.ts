import type { Leg } from '../calls/leg/leg.ts'
import type { CdrSource } from '../calls/log/call-cdr.ts'

/** A call that has ended. */
export interface RecentCall {
  readonly id: string
  readonly from: string
  readonly to: string
  /** Call-IDs of its SIP legs. */
  readonly sipCallIds: readonly string[]
}

/** Maximum number of ended calls in memory. */
const maxCalls = 2_000

/** Returns the Call-IDs of all INVITEs of some legs. */
export const sipCallIdsOf = (legs: readonly Pick<Leg, 'facts'>[]): readonly string[] => [
  ...new Set(
    legs.flatMap(({ facts: { sipCallId, formerSipCallIds = [] } }) =>
      sipCallId === undefined ? formerSipCallIds : [...formerSipCallIds, sipCallId],
    ),
  ),
]

/** Calls that have ended recently, so that their SIP messages can be found. */
export class RecentCalls {
  /** The call that ended first comes first. */
  readonly #calls = new Map<string, RecentCall>()

  /** Number of calls in memory. */
  get size(): number {
    return this.#calls.size
  }

  /** Keeps an ended call. */
  add({ id, info: { from, to }, cdrLegs }: CdrSource): void {
    this.#calls.delete(id)
    this.#calls.set(id, { id, from, to, sipCallIds: sipCallIdsOf(cdrLegs.map(({ leg }) => leg)) })
    for (const oldest of this.#calls.keys()) {
      if (this.#calls.size <= maxCalls) return
      this.#calls.delete(oldest)
    }
  }

  /** All calls in memory. */
  get all(): readonly RecentCall[] {
    return [...this.#calls.values()]
  }
}
