import type { Clock, Timer } from '../core/clock.ts'
import type { Log } from '../core/log.ts'

/** Time over which entries are gathered before they are written, in ms. */
const GATHER_MS = 100
/** Entries that are written together. */
const BATCH = 50
/** Wait before the next try after a failure, in ms: doubles up to the second one. */
const RETRY_MS = { first: 1_000, most: 30_000 }
/** Entries that may wait; the oldest go where there are more. */
const MOST_WAITING = 20_000
/** Entries that wait when it is said that the store is slow. */
const MANY_WAITING = 2_000
/** How often an entry may fail by itself, while others are written, until it is given up. */
const MOST_FAILURES = 5

/** What writing works with. */
export interface WriteBehindDeps<T> {
  /**
   * Writes entries down: all of them, or none, and then it rejects. An entry that was written before may come
   * again.
   */
  readonly write: (entries: readonly T[]) => Promise<void>
  readonly clock: Pick<Clock, 'after'>
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>
  /** Told of entries that are lost: too many waited, or the store did not take one that it should have. */
  readonly onLost: (entries: number) => void
}

interface Entry<T> {
  readonly key: string
  readonly value: T
  /** Number of its arrival, and of the first of those that it stands for. */
  readonly number: number
  readonly since: number
  /** How often it failed by itself after others had been written, and how many had been written then. */
  failures: number
  others: number
}

/**
 * Writes things down behind the back of whoever has them, in order, many together. An entry takes the place
 * of what waits by the same key.
 */
export class WriteBehind<T> {
  readonly #parts: WriteBehindDeps<T>
  #waiting = new Map<string, Entry<T>>()
  #settling = new Set<{ readonly number: number; readonly resolve: () => void }>()
  #number = 0
  #timer: Timer | undefined
  #running: Promise<void> | undefined
  #failures = 0
  /** Entries of the next batch: after one that failed they are tried one by one, to find the one at fault. */
  #size = BATCH
  #written = 0
  #lost = 0
  #slow = false

  constructor(parts: WriteBehindDeps<T>) {
    this.#parts = parts
  }

  /** Entries that are not written yet. */
  get waiting(): number {
    return this.#waiting.size
  }

  /** Neither waits nor throws. */
  put(key: string, value: T): void {
    const number = ++this.#number
    const { since = number } = this.#waiting.get(key) ?? {}
    this.#waiting.set(key, { key, value, number, since, failures: 0, others: -1 })
    if (this.#waiting.size > MOST_WAITING) this.#lose(this.#waiting.values().next().value!)
    if (!this.#slow && this.#waiting.size > MANY_WAITING) {
      this.#slow = true
      this.#parts.log.warn(
        { waiting: this.waiting },
        'the store takes records of calls more slowly than they come',
      )
    }
    this.#schedule(GATHER_MS)
  }

  /** Resolves when everything that was put before is written, or lost. */
  settled(): Promise<void> {
    if (this.#waiting.size === 0) return Promise.resolve()
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#settling.add({ number: this.#number, resolve })
    void this.attempt()
    return promise
  }

  /** Tries to write what waits, once. Never rejects. */
  attempt(): Promise<void> {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
      if (this.#waiting.size > 0) this.#schedule(this.#failures > 0 ? this.#delay() : GATHER_MS)
    })
    return this.#running
  }

  /** Writes what waits, for `ms` at most; what the store does not take is lost, and logged. */
  async close(ms: number): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const timer = this.#parts.clock.after(ms, resolve)
    await Promise.race([late, this.settled()])
    timer.cancel()
    this.#timer?.cancel()
    if (this.waiting > 0)
      this.#parts.log.error(
        { records: this.waiting },
        'records of calls are lost: the store did not take them',
      )
  }

  #schedule(ms: number): void {
    if (this.#timer || this.#running) return
    this.#timer = this.#parts.clock.after(ms, () => void this.attempt())
  }

  #delay(): number {
    return Math.min(RETRY_MS.first * 2 ** (this.#failures - 1), RETRY_MS.most)
  }

  /** Until nothing waits, or the store does not take it. */
  async #run(): Promise<void> {
    // Who puts something is never kept up by the store.
    await new Promise(setImmediate)
    while (this.#waiting.size > 0) {
      const batch = this.#next()
      try {
        await this.#parts.write(batch.map(({ value }) => value))
      } catch (error) {
        this.#failed(batch, error)
        return
      }
      this.#done(batch)
      await new Promise(setImmediate)
    }
  }

  #next(): Entry<T>[] {
    const batch: Entry<T>[] = []
    for (const entry of this.#waiting.values()) if (batch.push(entry) === this.#size) break
    return batch
  }

  #done(batch: readonly Entry<T>[]): void {
    for (const entry of batch) {
      const present = this.#waiting.get(entry.key)
      if (present === entry) this.#waiting.delete(entry.key)
      // It changed while it was written.
      else if (present) this.#waiting.set(entry.key, { ...present, since: present.number })
    }
    this.#written += batch.length
    this.#size = Math.min(this.#size * 2, BATCH)
    if (this.#failures > 0)
      this.#parts.log.info({ lost: this.#lost }, 'the store takes records of calls again')
    if (this.#failures > 0) this.#lost = 0
    this.#failures = 0
    if (this.#waiting.size < MANY_WAITING / 2) this.#slow = false
    this.#tellSettled()
  }

  #failed(batch: readonly Entry<T>[], error: unknown): void {
    this.#failures++
    if (this.#failures === 1)
      this.#parts.log.error(
        { err: error, waiting: this.waiting },
        'the store does not take records of calls; they wait',
      )
    this.#size = 1
    const [alone] = batch
    if (batch.length > 1 || !alone || this.#waiting.get(alone.key) !== alone) return
    // The others are not to wait behind it.
    this.#waiting.delete(alone.key)
    this.#waiting.set(alone.key, alone)
    // A store that is away takes nobody's.
    if (alone.others === this.#written) return
    alone.others = this.#written
    if (++alone.failures > MOST_FAILURES) this.#giveUp(alone, error)
  }

  #giveUp(entry: Entry<T>, error: unknown): void {
    this.#parts.log.error(
      { err: error, record: entry.key },
      'the store refuses a record of a call; it is left out',
    )
    this.#lose(entry)
    this.#failures = 0
  }

  #lose({ key }: Entry<T>): void {
    this.#waiting.delete(key)
    this.#lost++
    this.#parts.onLost(1)
    this.#tellSettled()
  }

  #tellSettled(): void {
    if (this.#settling.size === 0) return
    let first = Number.POSITIVE_INFINITY
    for (const { since } of this.#waiting.values()) first = Math.min(first, since)
    for (const waiter of [...this.#settling]) {
      if (first <= waiter.number) continue
      this.#settling.delete(waiter)
      waiter.resolve()
    }
  }
}
