import type { QueuePosition } from '../../../handlers/verbs.ts'
import type { CallId } from '../../model.ts'
import type { Call } from '../call/call.ts'

/** Number of served callers in the mean wait. */
const maxRememberedWaits = 20

/** Consumer of one caller of a queue. */
export interface QueueConsumer {
  readonly by: CallId
  /** Fires when it wants no caller any more. */
  readonly signal: AbortSignal
}

/** Waiting caller. */
export interface QueueEntry {
  readonly call: Call
  /** ms since the epoch. */
  readonly since: number
  /** Called once with the consumer that takes the caller. The caller has left the queue by then. */
  take(taker: QueueConsumer): void
}

/** Waiting callers in order, and consumers that wait for one. */
export class Queue {
  readonly id: string
  readonly name: string
  /** ms since the epoch. */
  readonly openedAt: number
  /** Maximum number of callers; undefined before the first one. */
  maxSize: number | undefined
  #waiters: QueueEntry[] = []
  /** Callers who were taken, and may return to the queue. */
  readonly #taken = new Set<QueueEntry>()
  #takers: QueueConsumer[] = []
  #waits: number[] = []

  constructor(id: string, name: string, openedAt: number) {
    this.id = id
    this.name = name
    this.openedAt = openedAt
  }

  /** Waiting callers, the next one first. */
  get members(): readonly { readonly callId: string; readonly since: number }[] {
    return this.#waiters.map(({ call, since }) => ({ callId: call.id, since }))
  }

  /** Mean wait of recently served callers; 0 before the first one. */
  get averageWaitMs(): number {
    const sum = this.#waits.reduce((total, ms) => total + ms, 0)
    return Math.round(sum / (this.#waits.length || 1))
  }

  /** Number of waiting callers. */
  get size(): number {
    return this.#waiters.length
  }

  /** Whether the queue has no caller and no consumer. */
  get isIdle(): boolean {
    return this.#waiters.length + this.#taken.size + this.#takers.length === 0
  }

  /** Returns the position of a caller; one who was taken comes before all others. */
  place(waiter: QueueEntry, now: number): QueuePosition {
    return {
      queueId: this.id,
      name: this.name,
      size: this.size,
      position: this.#waiters.indexOf(waiter) + 1 || 1,
      waitedMs: now - waiter.since,
      averageWaitMs: this.averageWaitMs,
    }
  }

  /** Adds a caller. `first`: it was taken in vain, and is the next one again. */
  enter(waiter: QueueEntry, first = false): void {
    this.#taken.delete(waiter)
    if (first) this.#waiters.unshift(waiter)
    else this.#waiters.push(waiter)
    this.#match()
  }

  /** Removes a caller, if present. */
  leave(waiter: QueueEntry): void {
    this.#taken.delete(waiter)
    this.#waiters = this.#waiters.filter((other) => other !== waiter)
  }

  /** Adds a consumer. `first`: it has lost its caller. */
  want(taker: QueueConsumer, first = false): void {
    if (first) this.#takers.unshift(taker)
    else this.#takers.push(taker)
    this.#match()
  }

  /** Removes a consumer, if present. */
  wantNoMore(taker: QueueConsumer): void {
    this.#takers = this.#takers.filter((other) => other !== taker)
  }

  /** Counts the wait of a served caller. */
  served(waiter: QueueEntry, waitedMs: number): void {
    this.#taken.delete(waiter)
    this.#waits.push(waitedMs)
    if (this.#waits.length > maxRememberedWaits) this.#waits.shift()
  }

  #match(): void {
    while (this.#waiters.length > 0 && this.#takers.length > 0) {
      const waiter = this.#waiters.shift()!
      this.#taken.add(waiter)
      waiter.take(this.#takers.shift()!)
    }
  }
}
