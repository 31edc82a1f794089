import type { Clock, Timer } from '../core/clock.ts'
import type { Log } from '../core/log.ts'

/** Time for which entries are gathered before a write, in ms. */
const gatherMs = 100
/** Maximum number of entries in one write. */
const batchSize = 50
/** Wait after a failure, in ms; it doubles with each failure from `first` up to `most`. */
const retryMs = { first: 1_000, most: 30_000 }
/** Maximum number of waiting entries; beyond it, the oldest are dropped. */
const maxWaiting = 20_000
/** Number of waiting entries from which the store is logged as slow. */
const warnWaiting = 2_000
/** Maximum number of failures of a single entry while others succeed. */
const maxFailures = 5

/** Collaborators of {@link WriteBehind}. */
export interface WriteBehindDeps<T> {
  /**
   * Writes all entries or none; rejects for none. Entries may be written more than once.
   */
  readonly write: (entries: readonly T[]) => Promise<void>
  readonly clock: Pick<Clock, 'after'>
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>
  /** Receives the number of entries that were lost because too many waited or the store rejected them. */
  readonly onLost: (entries: number) => void
}

interface Entry<T> {
  readonly key: string
  readonly value: T
  /** Sequence number of the first entry with this key that still waits. */
  readonly number: number
  readonly since: number
  /**
   * Failures of this entry in a batch of one; `others`: entries written in total by the last such failure.
   */
  failures: number
  others: number
}

/**
 * Queues entries and writes them in order, in batches. An entry replaces a waiting entry with the same key.
 */
export class WriteBehind<T> {
  readonly #deps: WriteBehindDeps<T>
  #waiting = new Map<string, Entry<T>>()
  #settling = new Set<{ readonly number: number; readonly resolve: () => void }>()
  #number = 0
  #timer: Timer | undefined
  #running: Promise<void> | undefined
  #failures = 0
  /** Size of the next batch: 1 after a failure, to find the faulty entry. */
  #size = batchSize
  #written = 0
  #lost = 0
  #slow = false

  constructor(deps: WriteBehindDeps<T>) {
    this.#deps = deps
  }

  /** Number of waiting entries. */
  get waiting(): number {
    return this.#waiting.size
  }

  /** Queues an entry. Neither waits nor throws. */
  put(key: string, value: T): void {
    const number = ++this.#number
    const { since = number } = this.#waiting.get(key) ?? {}
    this.#waiting.set(key, { key, value, number, since, failures: 0, others: -1 })
    if (this.#waiting.size > maxWaiting) this.#lose(this.#waiting.values().next().value!)
    if (!this.#slow && this.#waiting.size > warnWaiting) {
      this.#slow = true
      this.#deps.log.warn(
        { event: 'cdr.writes-delayed', waiting: this.waiting },
        'CDR writes delayed by a slow store',
      )
    }
    this.#schedule(gatherMs)
  }

  /** Resolves when all earlier entries are written or lost. */
  settled(): Promise<void> {
    if (this.#waiting.size === 0) return Promise.resolve()
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#settling.add({ number: this.#number, resolve })
    void this.attempt()
    return promise
  }

  /** Tries once to write the waiting entries. Never rejects. */
  attempt(): Promise<void> {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
      if (this.#waiting.size > 0) this.#schedule(this.#failures > 0 ? this.#delay() : gatherMs)
    })
    return this.#running
  }

  /** Writes waiting entries for at most `ms`. Entries that remain are lost and logged. */
  async close(ms: number): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const timer = this.#deps.clock.after(ms, resolve)
    await Promise.race([late, this.settled()])
    timer.cancel()
    this.#timer?.cancel()
    if (this.waiting > 0)
      this.#deps.log.error(
        { event: 'cdr.entries-lost', records: this.waiting },
        'CDRs not written before shutdown',
      )
  }

  #schedule(ms: number): void {
    if (this.#timer || this.#running) return
    this.#timer = this.#deps.clock.after(ms, () => void this.attempt())
  }

  #delay(): number {
    return Math.min(retryMs.first * 2 ** (this.#failures - 1), retryMs.most)
  }

  /** Writes batches until no entry waits or a write fails. */
  async #run(): Promise<void> {
    // A caller of `put` must never wait for the store.
    await new Promise(setImmediate)
    while (this.#waiting.size > 0) {
      const batch = this.#next()
      try {
        await this.#deps.write(batch.map(({ value }) => value))
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
      // A newer entry with this key arrived during the write.
      else if (present) this.#waiting.set(entry.key, { ...present, since: present.number })
    }
    this.#written += batch.length
    this.#size = Math.min(this.#size * 2, batchSize)
    if (this.#failures > 0)
      this.#deps.log.info({ event: 'cdr.writes-resumed', lost: this.#lost }, 'CDR writes resumed')
    if (this.#failures > 0) this.#lost = 0
    this.#failures = 0
    if (this.#waiting.size < warnWaiting / 2) this.#slow = false
    this.#tellSettled()
  }

  #failed(batch: readonly Entry<T>[], error: unknown): void {
    this.#failures++
    if (this.#failures === 1)
      this.#deps.log.error(
        { event: 'cdr.writes-failed', err: error, waiting: this.waiting },
        'CDRs not written; retrying',
      )
    this.#size = 1
    const [alone] = batch
    if (batch.length > 1 || !alone || this.#waiting.get(alone.key) !== alone) return
    // A faulty entry goes to the end of the queue.
    this.#waiting.delete(alone.key)
    this.#waiting.set(alone.key, alone)
    // A store that is unavailable fails for every entry, so no entry is at fault.
    if (alone.others === this.#written) return
    alone.others = this.#written
    if (++alone.failures > maxFailures) this.#giveUp(alone, error)
  }

  #giveUp(entry: Entry<T>, error: unknown): void {
    this.#deps.log.error(
      { event: 'cdr.entry-rejected', err: error, record: entry.key },
      'CDR rejected by the store',
    )
    this.#lose(entry)
    this.#failures = 0
  }

  #lose({ key }: Entry<T>): void {
    this.#waiting.delete(key)
    this.#lost++
    this.#deps.onLost(1)
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
