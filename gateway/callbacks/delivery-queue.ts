import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { Metrics } from '../core/metrics.ts'
import { type AttemptOutcome, RetryQueue } from '../core/retry-queue.ts'
import type { CallbackRow, CallbackRows } from '../directory/tables/callbacks.ts'
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
 * Delays in ms before the second and later attempts. A callback whose last attempt fails is dropped.
 */
const retryDelaysMs = [2_000, 10_000, 60_000, 600_000, 3_600_000] as const
/** Maximum number of simultaneous retries. */
const maxLaterAttempts = 8
/** Number of running callbacks beyond which no retry starts. */
const maxRunning = 1_000

/**
 * Queue of the callbacks for one server, independent of other servers. Callbacks of one call are delivered in
 * order, as long as each succeeds at its first attempt.
 */
export class DeliveryQueue {
  readonly #deps: DeliveryQueueDeps
  readonly #queue: RetryQueue<CallbackRow>
  /** Time in ms since 1970 after which no stored callback is started; the next run delivers the rest. */
  #lastStart = Number.POSITIVE_INFINITY

  /** `onIdle` is called when the queue is empty. */
  constructor(deps: DeliveryQueueDeps, server: string, onIdle: () => void) {
    const { rows, clock, log, isSure } = deps
    this.#deps = deps
    this.#queue = new RetryQueue<CallbackRow>({
      store: {
        next: async (limit) => (await rows.next(server, limit)).map((row) => ({ row, dueAt: row.due_at })),
        postpone: ({ id, tries }, dueAt) => rows.postpone(id, tries + 1, dueAt),
        remove: ({ id }) => rows.remove(id),
      },
      clock,
      attempt: (row, isStored) => this.#attempt(row, isStored),
      maxConcurrent: maxLaterAttempts,
      maxRunning,
      groupOf: (row) => row.call_id,
      mayTry: isSure,
      onError: (error) =>
        log.error({ event: 'callbacks.store-failed', err: error }, 'stored callbacks not read or written'),
      onIdle,
    })
  }

  /** Number of undelivered callbacks. */
  get waiting(): number {
    return this.#queue.waiting
  }

  /** Adds a number of stored callbacks, which are attempted now. */
  addStored(count: number): void {
    this.#queue.addStored(count)
  }

  /**
   * Stores a new callback and sends it. If the queue is closed, the next run sends it instead. `ends`: see
   * {@link CallbackRows.add}.
   */
  add(row: CallbackRow, ends?: string): void {
    this.#queue.add(row, this.#write(row, ends))
  }

  /**
   * Stops retries. First attempts may still start for `graceMs`; the next run delivers the rest. Idempotent.
   */
  async close(graceMs: number): Promise<void> {
    this.#lastStart = Math.min(this.#lastStart, this.#deps.clock.now() + graceMs)
    await this.#queue.close()
    this.#lastStart = Number.NEGATIVE_INFINITY
  }

  /**
   * Stores a callback. Returns false on failure; the callback is then attempted once without being stored.
   */
  async #write(row: CallbackRow, ends?: string): Promise<boolean> {
    try {
      await this.#deps.rows.add(row, ends)
      return true
    } catch (error) {
      this.#deps.log.error(
        { event: 'callback.store-failed', callback: row.id, err: error },
        'callback not stored',
      )
      return false
    }
  }

  async #attempt(row: CallbackRow, isStored: boolean): Promise<AttemptOutcome> {
    if (isStored && this.#deps.clock.now() >= this.#lastStart) return 'left'
    const { id, project_id: projectId, url, method, content_type: contentType, body: text } = row
    const body = contentType === null ? undefined : { contentType, text: text ?? '' }
    const request = { url, method, ...(body && { body }) }
    const status = await this.#deps.http.deliver(request, { projectId, id }).catch((error: Error) => error)
    if (typeof status === 'number' && status >= 200 && status < 300) {
      this.#report(row, 'delivered')
      return 'finished'
    }
    const reason = typeof status === 'number' ? `its server answered ${status}` : status.message
    const isRefused = !mayRetryLater(status)
    const delay = retryDelaysMs[row.tries]
    if (isRefused || delay === undefined || !isStored) {
      this.#report(row, isRefused ? 'refused' : 'given-up', reason)
      return 'finished'
    }
    this.#report(row, 'later', reason)
    return delay
  }

  #report({ id, call_id: call, kind, url, tries }: CallbackRow, outcome: string, reason?: string): void {
    this.#deps.metrics.callbacks.inc({ kind, outcome })
    const level = outcome === 'delivered' ? 'debug' : outcome === 'later' ? 'info' : 'warn'
    this.#deps.log[level](
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
}
