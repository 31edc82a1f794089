import type { QueuePosition } from '../../../handlers/verbs.ts'
import type { CallId } from '../../model.ts'
import type { Call } from '../call/call.ts'

/** Number of served callers in the mean wait. */
const maxRememberedWaits = 20

/** Consumer of one caller of a queue. */
export interface QueueConsumer {
  readonly by: CallId
  /** Fires when the consumer no longer waits for a caller. */
  readonly signal: AbortSignal
}

/** Waiting caller. */
export interface QueueEntry {
  readonly call: Call
  /** ms since the epoch. */
  readonly since: number
  /** Called once with the consumer that takes the caller. The caller has left the queue by then. */
  take(consumer: QueueConsumer): void
}

/** Waiting callers in order, and consumers that wait for one. */
export class Queue {
  readonly id: string
  readonly name: string
  /** ms since the epoch. */
  readonly openedAt: number
  /** Maximum number of callers; undefined before the first one. */
  maxSize: number | undefined
  #entries: QueueEntry[] = []
  /** Callers who were taken, and may return to the queue. */
  readonly #taken = new Set<QueueEntry>()
  #consumers: QueueConsumer[] = []
  #waits: number[] = []

  constructor(id: string, name: string, openedAt: number) {
    this.id = id
    this.name = name
    this.openedAt = openedAt
  }

  /** Waiting callers, the next one first. `since` in ms since the epoch. */
  get members(): readonly { readonly callId: string; readonly since: number }[] {
    return this.#entries.map(({ call, since }) => ({ callId: call.id, since }))
  }

  /** Mean wait of recently served callers; 0 before the first one. */
  get averageWaitMs(): number {
    const sum = this.#waits.reduce((total, ms) => total + ms, 0)
    return Math.round(sum / (this.#waits.length || 1))
  }

  /** Number of waiting callers. */
  get size(): number {
    return this.#entries.length
  }

  /** Whether the queue has no caller and no consumer. */
  get isIdle(): boolean {
    return this.#entries.length + this.#taken.size + this.#consumers.length === 0
  }

  /** Returns the position of a caller. A caller who was taken comes before all others. */
  place(entry: QueueEntry, now: number): QueuePosition {
    return {
      queueId: this.id,
      name: this.name,
      size: this.size,
      position: this.#entries.indexOf(entry) + 1 || 1,
      waitedMs: now - entry.since,
      averageWaitMs: this.averageWaitMs,
    }
  }

  /** Adds a caller. `isFirst`: the caller was taken but not joined, and so is the next one again. */
  enter(entry: QueueEntry, isFirst = false): void {
    this.#taken.delete(entry)
    if (isFirst) this.#entries.unshift(entry)
    else this.#entries.push(entry)
    this.#match()
  }

  /** Removes a caller, if present. */
  leave(entry: QueueEntry): void {
    this.#taken.delete(entry)
    this.#entries = this.#entries.filter((other) => other !== entry)
  }

  /** Adds a consumer. `isFirst`: the consumer has lost its caller, and gets the next one. */
  addConsumer(consumer: QueueConsumer, isFirst = false): void {
    if (isFirst) this.#consumers.unshift(consumer)
    else this.#consumers.push(consumer)
    this.#match()
  }

  /** Removes a consumer, if present. */
  removeConsumer(consumer: QueueConsumer): void {
    this.#consumers = this.#consumers.filter((other) => other !== consumer)
  }

  /** Counts the wait of a served caller. */
  served(entry: QueueEntry, waitedMs: number): void {
    this.#taken.delete(entry)
    this.#waits.push(waitedMs)
    if (this.#waits.length > maxRememberedWaits) this.#waits.shift()
  }

  #match(): void {
    while (this.#entries.length > 0 && this.#consumers.length > 0) {
      const entry = this.#entries.shift()!
      this.#taken.add(entry)
      entry.take(this.#consumers.shift()!)
    }
  }
}
