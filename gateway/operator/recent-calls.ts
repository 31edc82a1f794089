import type { Leg } from '../calls/leg/leg.ts'
import type { CdrSource } from '../calls/log/call-cdr.ts'
import type { Code } from '../core/errors/catalogue.ts'

/** A call that has ended. */
export interface RecentCall {
  readonly id: string
  readonly from: string
  readonly to: string
  /** Call-IDs of its SIP legs. */
  readonly sipCallIds: readonly string[]
}

/** A call that has ended, with its end. Times in milliseconds since 1970. */
export interface EndedCall extends RecentCall {
  /** Number of calls that had ended with this one since the start of the gateway. */
  readonly number: number
  readonly startedAt: number
  readonly answeredAt?: number
  readonly endedAt: number
  /** Code of its end. */
  readonly code: Code
  /** Whether the call is a branch that another call has dialled to an address. */
  readonly isBranch: boolean
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
  readonly #calls = new Map<string, EndedCall>()
  #ended = 0

  /** Number of calls in memory. */
  get size(): number {
    return this.#calls.size
  }

  /** Keeps an ended call. */
  add({ id, info: { from, to }, caller, cdrLegs }: CdrSource): void {
    const first = cdrLegs[0]?.leg ?? caller
    const { startedAt, answeredAt } = first.times
    this.#calls.delete(id)
    this.#calls.set(id, {
      id,
      from,
      to,
      sipCallIds: sipCallIdsOf(cdrLegs.map(({ leg }) => leg)),
      number: ++this.#ended,
      startedAt,
      ...(answeredAt !== undefined && { answeredAt }),
      endedAt: caller.times.endedAt ?? startedAt,
      code: caller.state.kind === 'ended' ? caller.state.cause.code : 'internal',
      isBranch: first.kind === 'local' && first.direction === 'inbound',
    })
    for (const oldest of this.#calls.keys()) {
      if (this.#calls.size <= maxCalls) return
      this.#calls.delete(oldest)
    }
  }

  /** Number of calls that have ended since the start of the gateway. */
  get ended(): number {
    return this.#ended
  }

  /**
   * Returns the calls in memory that ended after the call with this number, the oldest first. Branches are
   * parts of the call that has dialled them.
   */
  endedAfter(number: number): readonly EndedCall[] {
    return [...this.#calls.values()].filter((call) => call.number > number && !call.isBranch)
  }

  /** All calls in memory. */
  get all(): readonly RecentCall[] {
    return [...this.#calls.values()]
  }
}
