import { randomUUID } from 'node:crypto'
import type { StatusCallback } from '../../handlers/handler.ts'
import type { Clock, Timer } from '../clock.ts'
import type { CallbackRow, CallbackRows } from '../directory/callbacks.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import type { CustomerHttp } from './customer-http.ts'
import { cleanUrl } from './redirects.ts'

/** What a {@link Spool} works with. */
export interface SpoolParts {
  readonly rows: CallbackRows
  readonly http: Pick<CustomerHttp, 'deliver'>
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Pick<Metrics, 'callbacks'>
}

/** Whose callback it is: those of one call are told in order, as long as each is taken at its first try. */
export interface CallbackFrom {
  readonly projectId: string
  readonly callId: string
}

/** Waits before the second try and those after it, in ms; a callback that was not taken after the last one is given up. */
const waits = [2_000, 10_000, 60_000, 600_000, 3_600_000] as const
/** Callbacks that wait at once; beyond, what comes is dropped. */
const mostWaiting = 100_000
/** Later tries at once. */
const mostAtOnce = 32

/**
 * Tells customers' servers what they asked to be told. What was not taken is tried again later, also after a restart: it is written down before
 * it is sent, so that a server may be told something twice, by the same id, and nothing gets lost.
 */
export class Spool {
  readonly #parts: SpoolParts
  #waiting: number
  /** Callbacks that are on their way, or next in their call. */
  readonly #running = new Map<string, Promise<void>>()
  /** The last callback of each call that has one under way. */
  readonly #lastOf = new Map<string, Promise<void>>()
  #waking: Promise<void> = Promise.resolve()
  #timer: Timer | undefined
  #timerAt = Number.POSITIVE_INFINITY
  #closed = false

  private constructor(parts: SpoolParts, waiting: number) {
    this.#parts = parts
    this.#waiting = waiting
  }

  /** Goes on with what an earlier run of the gateway could not deliver. */
  static async open(parts: SpoolParts): Promise<Spool> {
    const spool = new Spool(parts, await parts.rows.count())
    if (spool.#waiting > 0) spool.#wakeAt(parts.clock.now())
    return spool
  }

  /** Callbacks that were not taken yet. */
  get waiting(): number {
    return this.#waiting
  }

  /** Takes a callback; never throws. */
  notify({ projectId, callId }: CallbackFrom, callback: StatusCallback): void {
    const { url, method, body, kind } = callback
    const { clock, metrics, log } = this.#parts
    if (this.#waiting >= mostWaiting || this.#closed) {
      metrics.callbacks.inc({ kind, outcome: 'dropped' })
      log.warn({ call: callId, kind, url: cleanUrl(url) }, 'a callback is dropped: too many wait')
      return
    }
    this.#waiting++
    const now = clock.now()
    const row: CallbackRow = {
      ...{ id: randomUUID(), project_id: projectId, call_id: callId, kind, method, url },
      ...{ content_type: body?.contentType ?? null, body: body?.text ?? null },
      ...{ tries: 0, created_at: now, due_at: now },
    }
    this.#enqueue(row)
  }

  /** No later tries from now on; waits for what is on its way. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true
    this.#timer?.cancel()
    await this.#waking
    await Promise.all(this.#running.values())
  }

  #enqueue(row: CallbackRow): void {
    const { call_id: callId } = row
    const written = this.#write(row)
    const before = this.#lastOf.get(callId) ?? Promise.resolve()
    const done = this.#run(row.id, async () => {
      const kept = await written
      await before
      await this.#try(row, kept)
    })
    this.#lastOf.set(callId, done)
    void done.then(() => this.#lastOf.get(callId) === done && this.#lastOf.delete(callId))
  }

  /** False where it cannot be written: it is tried once all the same. */
  async #write(row: CallbackRow): Promise<boolean> {
    try {
      await this.#parts.rows.add(row)
      return true
    } catch (error) {
      this.#parts.log.error({ callback: row.id, err: error }, 'a callback could not be written down')
      return false
    }
  }

  #run(id: string, work: () => Promise<void>): Promise<void> {
    const done = work()
      .catch((error) => this.#failed(error))
      .finally(() => this.#running.delete(id))
    this.#running.set(id, done)
    return done
  }

  #failed(error: unknown): void {
    this.#parts.log.error({ err: error }, 'the spool of callbacks failed')
  }

  async #try(row: CallbackRow, kept: boolean): Promise<void> {
    const { id, project_id: projectId, url, method, content_type: contentType, body: text } = row
    const body = contentType === null ? undefined : { contentType, text: text ?? '' }
    const request = { url, method, ...(body && { body }) }
    const status = await this.#parts.http.deliver(request, { projectId, id }).catch((error: Error) => error)
    if (typeof status === 'number' && status >= 200 && status < 300) return this.#over(row, 'delivered')
    const reason = typeof status === 'number' ? `its server answered ${status}` : status.message
    if (!mayComeLater(status)) return this.#over(row, 'refused', reason)
    const wait = waits[row.tries]
    if (wait === undefined || !kept) return this.#over(row, 'given-up', reason)
    this.#tell(row, 'later', reason)
    const dueAt = this.#parts.clock.now() + wait
    await this.#parts.rows.postpone(id, row.tries + 1, dueAt)
    this.#wakeAt(dueAt)
  }

  async #over(row: CallbackRow, outcome: string, reason?: string): Promise<void> {
    this.#waiting--
    this.#tell(row, outcome, reason)
    await this.#parts.rows.remove(row.id)
  }

  #tell({ id, call_id: call, kind, url, tries }: CallbackRow, outcome: string, reason?: string): void {
    this.#parts.metrics.callbacks.inc({ kind, outcome })
    const level = outcome === 'delivered' ? 'debug' : outcome === 'later' ? 'info' : 'warn'
    this.#parts.log[level](
      { callback: id, call, kind, url: cleanUrl(url), tries: tries + 1, ...(reason && { reason }) },
      `callback ${outcome}`,
    )
  }

  #wakeAt(at: number): void {
    if (this.#closed || at >= this.#timerAt) return
    this.#timer?.cancel()
    this.#timerAt = at
    this.#timer = this.#parts.clock.after(Math.max(0, at - this.#parts.clock.now()), () => {
      this.#timerAt = Number.POSITIVE_INFINITY
      this.#waking = this.#waking.then(() => this.#tryDue()).catch((error) => this.#failed(error))
    })
  }

  /** Tries what is due, and comes back for the rest. */
  async #tryDue(): Promise<void> {
    const { rows, clock } = this.#parts
    const limit = mostAtOnce + this.#running.size
    const next = await rows.next(limit)
    if (this.#closed) return
    const now = clock.now()
    const idle = next.filter(({ id }) => !this.#running.has(id))
    const due = idle.filter(({ due_at: at }) => at <= now).slice(0, mostAtOnce)
    await Promise.all(due.map((row) => this.#run(row.id, () => this.#try(row, true))))
    const rest = idle[due.length]
    if (rest) this.#wakeAt(rest.due_at)
    else if (next.length === limit) this.#wakeAt(now)
  }
}

/** Whether a later try may be taken: not where the server has refused it for good. */
const mayComeLater = (status: number | Error): boolean =>
  typeof status !== 'number' || status >= 500 || status === 408 || status === 429
