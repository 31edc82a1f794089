import type { Clock, Timer } from './clock.ts'

/** Store of the rows of a {@link RetryQueue}. */
export interface RetryStore<Row> {
  /**
   * Returns the rows that are due first, including those with a running attempt. `dueAt` is in ms since the
   * Unix epoch.
   */
  next(limit: number): Promise<readonly { readonly row: Row; readonly dueAt: number }[]>
  /** Stores a failed attempt; the next one is due at `dueAt`. */
  postpone(row: Row, dueAt: number): Promise<void>
  /** Removes a finished row. */
  remove(row: Row): Promise<void>
}

/**
 * Outcome of an attempt. A number is the wait in ms before the next one. `finished`: the row succeeded or was
 * given up. `left`: the row stays in the store for the next run of the gateway.
 */
export type AttemptOutcome = number | 'finished' | 'left'

/** Options and collaborators of a {@link RetryQueue}. */
export interface RetryQueueDeps<Row> {
  readonly store: RetryStore<Row>
  readonly clock: Clock
  /**
   * Makes one attempt. `isStored`: whether the store has the row; without it, the attempt is the only one.
   */
  readonly attempt: (row: Row, isStored: boolean) => Promise<AttemptOutcome>
  /** Maximum number of simultaneous attempts of waiting rows. */
  readonly maxConcurrent: number
  /** Number of running attempts beyond which no waiting row is tried; default no limit. */
  readonly maxRunning?: number
  /** Returns the group of a row. Attempts of a group run one after the other. Default: no groups. */
  readonly groupOf?: (row: Row) => string
  /** Whether waiting rows may be tried now; default true. If not, the queue pauses for a minute. */
  readonly mayTry?: () => boolean
  /** Receives errors of the store and of an attempt. Each pauses the queue for a minute. */
  readonly onError: (error: unknown) => void
  /** Called once when the queue is empty, which closes it. Default: it stays open. */
  readonly onIdle?: () => void
}

/** Pause after an error, in ms: if the store failed, a finished row may still be stored. */
const errorPauseMs = 60_000
/** Pause while too many attempts are running, in ms. */
const busyPauseMs = 2_000

/**
 * Queue of rows that are tried until they succeed or are given up. A new row is tried at once, or as soon as
 * another attempt ends. A failed row is tried again when it is due.
 */
export class RetryQueue<Row extends { readonly id: string | number }> {
  readonly #deps: RetryQueueDeps<Row>
  #waiting = 0
  /** Rows with a running attempt, or with an attempt that waits for an earlier one of their group. */
  readonly #running = new Map<string | number, Promise<void>>()
  /** The last attempt of each group with a running one. */
  readonly #lastOf = new Map<string, Promise<void>>()
  #concurrent = 0
  #waking: Promise<void> = Promise.resolve()
  #timer: Timer | undefined
  #timerAt = Number.POSITIVE_INFINITY
  #notBefore = 0
  #isClosed = false

  constructor(deps: RetryQueueDeps<Row>) {
    this.#deps = deps
  }

  /** Number of unfinished rows. */
  get waiting(): number {
    return this.#waiting
  }

  /** Adds rows that are in the store, and tries those that are due. */
  addStored(count: number): void {
    this.#waiting += count
    this.wake()
  }

  /**
   * Adds a new row, and tries it at once, even if the queue is closed. `stored`: whether it could be stored;
   * default true. Must not reject.
   */
  add(row: Row, stored?: Promise<boolean>): void {
    this.#waiting++
    void this.#run(row, async () => this.#try(row, stored === undefined || (await stored)))
  }

  /** Tries the rows that are due, for a store whose times have changed. */
  wake(): void {
    this.#wakeAt(this.#deps.clock.now())
  }

  /** Stops attempts of waiting rows. Resolves when the running attempts have ended. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#timer?.cancel()
    await this.#waking
    while (this.#running.size > 0) await Promise.all(this.#running.values())
  }

  /** Runs `attempt` after the earlier attempts of its group. Never rejects. */
  async #run(row: Row, attempt: () => Promise<void>): Promise<void> {
    const group = this.#deps.groupOf?.(row)
    const before = group === undefined ? undefined : this.#lastOf.get(group)
    const done = (before ? before.then(attempt) : attempt()).catch((error) => this.#pause(error))
    if (group !== undefined) this.#lastOf.set(group, done)
    this.#running.set(row.id, done)
    await done
    this.#running.delete(row.id)
    if (group !== undefined && this.#lastOf.get(group) === done) this.#lastOf.delete(group)
    if (this.#waiting === 0 && this.#running.size === 0) this.#idle()
  }

  async #try(row: Row, isStored: boolean): Promise<void> {
    const { store, attempt, clock } = this.#deps
    const outcome = await attempt(row, isStored)
    if (outcome === 'left') return
    if (outcome === 'finished') {
      if (isStored) await store.remove(row)
      // The store may have the row in spite of the error; the next run of the gateway would try it again.
      else store.remove(row).catch(() => {})
      this.#waiting--
      return
    }
    const dueAt = clock.now() + outcome
    await store.postpone(row, dueAt)
    this.#wakeAt(dueAt)
  }

  /** Pauses after an error. */
  #pause(error: unknown): void {
    this.#deps.onError(error)
    this.#notBefore = this.#deps.clock.now() + errorPauseMs
    this.#timer?.cancel()
    this.#timerAt = Number.POSITIVE_INFINITY
    this.#wakeAt(this.#notBefore)
  }

  /**
   * Cancels the timer of the empty queue. Closes the queue if its owner has set `onIdle`: such an owner makes
   * a new queue for later rows.
   */
  #idle(): void {
    this.#timer?.cancel()
    this.#timerAt = Number.POSITIVE_INFINITY
    if (!this.#deps.onIdle) return
    this.#isClosed = true
    this.#deps.onIdle()
  }

  #wakeAt(wanted: number): void {
    const { clock } = this.#deps
    const at = Math.max(wanted, this.#notBefore)
    if (this.#isClosed || at >= this.#timerAt) return
    this.#timer?.cancel()
    this.#timerAt = at
    const tryDue = () => {
      this.#timerAt = Number.POSITIVE_INFINITY
      return this.#tryDue()
    }
    const chain = () => {
      this.#waking = this.#waking.then(tryDue).catch((error) => this.#pause(error))
    }
    if (at <= clock.now()) chain()
    else this.#timer = clock.after(at - clock.now(), chain)
  }

  /** Tries the rows that are due, and sets a timer for the next one. */
  async #tryDue(): Promise<void> {
    const { store, clock, maxConcurrent, maxRunning = Number.POSITIVE_INFINITY, mayTry } = this.#deps
    const room = maxConcurrent - this.#concurrent
    // The end of each attempt wakes the queue again.
    if (this.#isClosed || room === 0) return
    const now = clock.now()
    if (mayTry?.() === false) return this.#wakeAt(now + errorPauseMs)
    // The store also returns rows with a running attempt, which must be skipped.
    if (this.#running.size > maxRunning) return this.#wakeAt(now + busyPauseMs)
    // One row more than can be tried now: the timer is set for the time when that row is due.
    const next = await store.next(room + 1 + this.#running.size)
    if (this.#isClosed) return
    if (next.length === 0 && this.#running.size === 0) {
      // Another gateway has taken over the rows.
      this.#waiting = 0
      this.#idle()
      return
    }
    const notRunning = next.filter(({ row }) => !this.#running.has(row.id))
    const due = notRunning.filter(({ dueAt }) => dueAt <= now).slice(0, room)
    for (const { row } of due) void this.#tryWaiting(row)
    const rest = notRunning[due.length]
    if (rest) this.#wakeAt(rest.dueAt)
  }

  async #tryWaiting(row: Row): Promise<void> {
    this.#concurrent++
    await this.#run(row, () => this.#try(row, true))
    this.#concurrent--
    if (this.#waiting > 0) this.wake()
  }
}
