import type { QueuePosition } from '../../../handlers/verbs.ts'
import type { CallId } from '../../model.ts'
import type { Call } from '../call/call.ts'

/** Served callers whose waits make the mean. */
const maxRememberedWaits = 20

/** Who takes callers out of a queue: one caller, once. */
export interface QueueConsumer {
  readonly by: CallId
  /** Fires when it wants nobody any more. */
  readonly signal: AbortSignal
}

/** A caller who waits. */
export interface QueueEntry {
  readonly call: Call
  /** ms since the epoch. */
  readonly since: number
  /** Called once when somebody takes it, out of the queue already. */
  take(taker: QueueConsumer): void
}

/** Callers in the order of their coming, and those who wait for one. */
export class Queue {
  readonly id: string
  readonly name: string
  /** ms since the epoch. */
  readonly openedAt: number
  /** Most callers at once; undefined while none has come. */
  maxSize: number | undefined
  #waiters: QueueEntry[] = []
  /** Those who were taken, and may still wait on. */
  readonly #taken = new Set<QueueEntry>()
  #takers: QueueConsumer[] = []
  #waits: number[] = []

  constructor(id: string, name: string, openedAt: number) {
    this.id = id
    this.name = name
    this.openedAt = openedAt
  }

  /** Who waits, the next one first. */
  get members(): readonly { readonly callId: string; readonly since: number }[] {
    return this.#waiters.map(({ call, since }) => ({ callId: call.id, since }))
  }

  /** Mean wait of those who were served lately; 0 while nobody was. */
  get averageWaitMs(): number {
    const sum = this.#waits.reduce((total, ms) => total + ms, 0)
    return Math.round(sum / (this.#waits.length || 1))
  }

  /** Callers who wait. */
  get size(): number {
    return this.#waiters.length
  }

  /** Whether nobody waits, for a caller or as one. */
  get isIdle(): boolean {
    return this.#waiters.length + this.#taken.size + this.#takers.length === 0
  }

  /** Where a caller stands; one who was taken stands before all others. */
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

  /** A caller comes; `first`: it was taken in vain, and is the next one again. */
  enter(waiter: QueueEntry, first = false): void {
    this.#taken.delete(waiter)
    if (first) this.#waiters.unshift(waiter)
    else this.#waiters.push(waiter)
    this.#match()
  }

  /** A caller goes; nothing for one who is not there. */
  leave(waiter: QueueEntry): void {
    this.#taken.delete(waiter)
    this.#waiters = this.#waiters.filter((other) => other !== waiter)
  }

  /** Somebody wants a caller; `first`: the one that it had was lost. */
  want(taker: QueueConsumer, first = false): void {
    if (first) this.#takers.unshift(taker)
    else this.#takers.push(taker)
    this.#match()
  }

  /** It wants none any more; nothing for one that is not there. */
  wantNoMore(taker: QueueConsumer): void {
    this.#takers = this.#takers.filter((other) => other !== taker)
  }

  /** A caller who was taken is served after so long. */
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
