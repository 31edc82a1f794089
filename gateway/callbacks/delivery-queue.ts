import type { Clock, Timer } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { Metrics } from '../core/metrics.ts'
import type { CallbackRow, CallbackRows } from '../directory/callbacks.ts'
import type { CustomerHttp } from './customer-http.ts'
import { cleanUrl } from './redirects.ts'
import { mayRetryLater } from './retry-policy.ts'

/** Collaborators of a {@link DeliveryQueue}. */
export interface DeliveryQueueDeps {
  readonly rows: CallbackRows
  readonly http: Pick<CustomerHttp, 'deliver'>
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Pick<Metrics, 'callbacks'>
  /**
   * Whether this gateway certainly owns its stored callbacks, so that no other gateway has taken them over.
   */
  readonly isSure: () => boolean
}

/**
 * Delays in ms before the second and later attempts. A callback that fails after the last one is given up.
 */
const retryDelaysMs = [2_000, 10_000, 60_000, 600_000, 3_600_000] as const
/** Maximum number of simultaneous later attempts. */
const maxLaterTries = 8
/** Number of running callbacks beyond which no later attempt starts. */
const maxRunning = 1_000
/** Pause of all attempts after a failure of the store, in ms: a delivered callback may still be stored. */
const storePauseMs = 60_000

/**
 * Queue of the callbacks for one server, independent of other servers. Callbacks of one call are delivered in
 * order, as long as each succeeds at its first attempt.
 */
export class DeliveryQueue {
  readonly #parts: DeliveryQueueDeps
  readonly #server: string
  readonly #onIdle: () => void
  #waiting: number
  /** Callbacks that are being sent, or are next in their call. */
  readonly #running = new Map<string, Promise<void>>()
  /** The last callback of each call with a running one. */
  readonly #lastOf = new Map<string, Promise<void>>()
  #laterTries = 0
  #waking: Promise<void> = Promise.resolve()
  #timer: Timer | undefined
  #timerAt = Number.POSITIVE_INFINITY
  #notBefore = 0
  #closed = false
  /** Time in ms after which stored callbacks are left for the next run. */
  #lastStart = Number.POSITIVE_INFINITY

  /**
   * `waiting`: number of callbacks left by an earlier run, which are tried now. `onIdle` is called when the
   * queue is empty.
   */
  constructor(parts: DeliveryQueueDeps, server: string, waiting: number, onIdle: () => void) {
    this.#parts = parts
    this.#server = server
    this.#waiting = waiting
    this.#onIdle = onIdle
    if (waiting > 0) this.#wakeAt(parts.clock.now())
  }

  /** Number of undelivered callbacks. */
  get waiting(): number {
    return this.#waiting
  }

  /** Adds stored callbacks, which are tried now. */
  more(count: number): void {
    this.#waiting += count
    this.#wakeAt(this.#parts.clock.now())
  }

  /**
   * Stores a new callback, and sends it unless the queue is closed: then the next run sends it. `ends`: see
   * {@link CallbackRows.add}.
   */
  add(row: CallbackRow, ends?: string): void {
    this.#waiting++
    const written = this.#write(row, ends)
    void this.#run(row, async () => this.#try(row, await written))
  }

  /**
   * Stops later attempts. First attempts may start for `graceMs` more; the rest is left for the next run.
   * Idempotent.
   */
  async close(graceMs: number): Promise<void> {
    this.#closed = true
    this.#lastStart = Math.min(this.#lastStart, this.#parts.clock.now() + graceMs)
    this.#timer?.cancel()
    await this.#waking
    while (this.#running.size > 0) await Promise.all(this.#running.values())
    this.#lastStart = Number.NEGATIVE_INFINITY
  }

  /** Stores a callback. Returns false on failure: it is sent once all the same. */
  async #write(row: CallbackRow, ends?: string): Promise<boolean> {
    try {
      await this.#parts.rows.add(row, ends)
      return true
    } catch (error) {
      this.#parts.log.error(
        { event: 'callback.store-failed', callback: row.id, err: error },
        'callback not stored',
      )
      return false
    }
  }

  /** Runs `work` after the earlier callbacks of its call; never rejects. */
  async #run({ id, call_id: callId }: CallbackRow, work: () => Promise<void>): Promise<void> {
    const before = this.#lastOf.get(callId) ?? Promise.resolve()
    const done = before.then(work).catch((error) => this.#failed(error))
    this.#lastOf.set(callId, done)
    this.#running.set(id, done)
    await done
    this.#running.delete(id)
    if (this.#lastOf.get(callId) === done) this.#lastOf.delete(callId)
    if (this.#waiting === 0 && this.#running.size === 0) this.#retire()
  }

  /** Handles an empty store: another gateway has taken over the callbacks. */
  #handleEmptyStore(): void {
    this.#waiting = 0
    this.#retire()
  }

  /** Ends this queue. A new queue takes later callbacks of the server. */
  #retire(): void {
    this.#closed = true
    this.#timer?.cancel()
    this.#onIdle()
  }

  #failed(error: unknown): void {
    const { log, clock } = this.#parts
    log.error({ event: 'callbacks.store-failed', err: error }, 'store of callbacks failed')
    this.#notBefore = clock.now() + storePauseMs
    this.#timer?.cancel()
    this.#timerAt = Number.POSITIVE_INFINITY
    this.#wakeAt(this.#notBefore)
  }

  async #try(row: CallbackRow, kept: boolean): Promise<void> {
    if (kept && this.#parts.clock.now() >= this.#lastStart) return
    const { id, project_id: projectId, url, method, content_type: contentType, body: text } = row
    const body = contentType === null ? undefined : { contentType, text: text ?? '' }
    const request = { url, method, ...(body && { body }) }
    const status = await this.#parts.http.deliver(request, { projectId, id }).catch((error: Error) => error)
    if (typeof status === 'number' && status >= 200 && status < 300) return this.#over(row, kept, 'delivered')
    const reason = typeof status === 'number' ? `its server answered ${status}` : status.message
    if (!mayRetryLater(status)) return this.#over(row, kept, 'refused', reason)
    const wait = retryDelaysMs[row.tries]
    if (wait === undefined || !kept) return this.#over(row, kept, 'given-up', reason)
    this.#report(row, 'later', reason)
    const dueAt = this.#parts.clock.now() + wait
    await this.#parts.rows.postpone(id, row.tries + 1, dueAt)
    this.#wakeAt(dueAt)
  }

  async #over(row: CallbackRow, kept: boolean, outcome: string, reason?: string): Promise<void> {
    const { rows } = this.#parts
    this.#report(row, outcome, reason)
    if (kept) await rows.remove(row.id)
    // It may be stored in spite of the error, and the next run would send it again.
    else rows.remove(row.id).catch(() => {})
    this.#waiting--
  }

  #report({ id, call_id: call, kind, url, tries }: CallbackRow, outcome: string, reason?: string): void {
    this.#parts.metrics.callbacks.inc({ kind, outcome })
    const level = outcome === 'delivered' ? 'debug' : outcome === 'later' ? 'info' : 'warn'
    this.#parts.log[level](
      {
        event: 'callback.attempted',
        callback: id,
        call,
        kind,
        url: cleanUrl(url),
        outcome,
        tries: tries + 1,
        ...(reason && { reason }),
      },
      'callback attempted',
    )
  }

  #wakeAt(wanted: number): void {
    const { clock } = this.#parts
    const at = Math.max(wanted, this.#notBefore)
    if (this.#closed || at >= this.#timerAt) return
    this.#timer?.cancel()
    this.#timerAt = at
    this.#timer = clock.after(Math.max(0, at - clock.now()), () => {
      this.#timerAt = Number.POSITIVE_INFINITY
      this.#waking = this.#waking.then(() => this.#tryDue()).catch((error) => this.#failed(error))
    })
  }

  /** Tries the callbacks that are due, and sets a timer for the next one. */
  async #tryDue(): Promise<void> {
    const { rows, clock, isSure } = this.#parts
    const room = maxLaterTries - this.#laterTries
    // Each finished attempt calls this again.
    if (room === 0) return
    const now = clock.now()
    if (!isSure()) return this.#wakeAt(now + storePauseMs)
    // Running callbacks are in the store too, and each would have to be skipped.
    if (this.#running.size > maxRunning) return this.#wakeAt(now + retryDelaysMs[0])
    // One more than there is room for, to learn when it is due.
    const next = await rows.next(this.#server, room + 1 + this.#running.size)
    if (this.#closed) return
    if (next.length === 0 && this.#running.size === 0) return this.#handleEmptyStore()
    const idle = next.filter(({ id }) => !this.#running.has(id))
    const due = idle.filter(({ due_at: at }) => at <= now).slice(0, room)
    for (const row of due) void this.#tryLater(row)
    const rest = idle[due.length]
    if (rest) this.#wakeAt(rest.due_at)
  }

  async #tryLater(row: CallbackRow): Promise<void> {
    this.#laterTries++
    await this.#run(row, () => this.#try(row, true))
    this.#laterTries--
    if (this.#waiting > 0) this.#wakeAt(this.#parts.clock.now())
  }
}
