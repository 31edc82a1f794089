import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { Metrics } from '../core/metrics.ts'
import type {
  InterruptedCall,
  StoredSubscriberCall,
  SubscriberCallPosition,
  SubscriberCallRow,
  SubscriberCallRows,
  SubscriberCallSearch,
} from '../directory/tables/subscriber-calls.ts'
import { ExpiredRows } from './expired-rows.ts'
import { WriteBehind } from './write-behind.ts'

/** Results of a call in the history of a subscriber. */
export const callResults = [
  'answered',
  'missed',
  'declined',
  'busy',
  'no_answer',
  'canceled',
  'answered_elsewhere',
  'failed',
] as const

/** Result of a call in the history of a subscriber. */
export type CallResult = (typeof callResults)[number]

/** Maximum time for the last writes at shutdown, in ms. */
const maxCloseMs = 5_000

/** Maximum time for which a call rings, in ms. */
const maxRingMs = 600_000

/** Collaborators of {@link SubscriberHistory}. */
export interface SubscriberHistoryDeps {
  readonly rows: Pick<SubscriberCallRows, 'save' | 'of' | 'removeOlder' | 'interruptedRinging'>
  /** Id of this gateway among the gateways that share the store. */
  readonly nodeId: string
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Pick<Metrics, 'recordsLost' | 'recordsRemoved'>
}

/** Stores the calls of subscribers. Calls never wait for the store. */
export class SubscriberHistory {
  readonly #deps: SubscriberHistoryDeps
  readonly #behind: WriteBehind<StoredSubscriberCall>
  readonly #expired: ExpiredRows
  /** Calls that rang when the gateway crashed. */
  #interrupted: readonly InterruptedCall[] = []

  /** `keepMs`: time for which calls are kept, in ms. */
  constructor(deps: SubscriberHistoryDeps, keepMs: number) {
    const { rows, clock, log, metrics } = deps
    this.#deps = deps
    const onLost = (entries: number) => metrics.recordsLost.inc(entries)
    this.#behind = new WriteBehind({ write: (calls) => rows.save(calls), clock, log, onLost })
    this.#expired = new ExpiredRows({ tables: [rows], clock, log, metrics }, keepMs)
    this.#expired.start()
  }

  /** Changes the time for which calls are kept, in ms. */
  change(keepMs: number): void {
    this.#expired.change(keepMs)
  }

  /** Number of calls that wait to be written. */
  get waiting(): number {
    return this.#behind.waiting
  }

  /** Reads the calls that rang when the gateway crashed. Call it after their end was recorded. */
  async loadInterrupted(): Promise<void> {
    const { rows, clock } = this.#deps
    this.#interrupted = await rows.interruptedRinging(clock.now() - maxRingMs)
  }

  /**
   * Ids of the calls in browsers that rang at a subscriber when the gateway crashed. They are known for the
   * maximum time that a call rings.
   */
  interruptedRinging(subscriberId: string): readonly string[] {
    const after = this.#deps.clock.now() - maxRingMs
    this.#interrupted = this.#interrupted.filter(({ ended_at: at }) => at > after)
    return this.#interrupted
      .filter(({ subscriber_id: id }) => id === subscriberId)
      .map((call) => call.call_id)
  }

  /** Stores an ended call in the background. */
  add(call: SubscriberCallRow): void {
    this.#behind.put(call.id, { ...call, node_id: null })
  }

  /**
   * Stores a call in progress in the background, with the end that its history shows if the gateway crashes.
   * The time of the end is then that of the last heartbeat, if it is later.
   */
  addInProgress(call: SubscriberCallRow): void {
    this.#behind.put(call.id, { ...call, node_id: this.#deps.nodeId })
  }

  /** Returns at most `most` ended calls of a subscriber, the newest first, from the position `after`. */
  async of(
    subscriberId: string,
    search: SubscriberCallSearch,
    most: number,
    after?: SubscriberCallPosition,
  ): Promise<readonly SubscriberCallRow[]> {
    if (!after) await this.#behind.attempt()
    return this.#deps.rows.of(subscriberId, search, most, after)
  }

  /** Writes waiting calls, for at most 5 s. Close it after the calls and before the database. */
  async close(): Promise<void> {
    await this.#expired.close()
    await this.#behind.close(maxCloseMs)
  }
}
