import type { Clock, Timer } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { Metrics } from '../core/metrics.ts'
import type { CallbackRow, CallbackRows } from '../directory/callbacks.ts'
import type { CustomerHttp } from './customer-http.ts'
import { mayComeLater } from './later-tries.ts'
import { cleanUrl } from './redirects.ts'

/** What a {@link Lane} works with. */
export interface LaneParts {
  readonly rows: CallbackRows
  readonly http: Pick<CustomerHttp, 'deliver'>
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Pick<Metrics, 'callbacks'>
  /** Whether what is written down as this gateway's is so: nobody else can have taken it over. */
  readonly isSure: () => boolean
}

/** Waits before the second try and those after it, in ms; a callback that was not taken after the last one is given up. */
const waits = [2_000, 10_000, 60_000, 600_000, 3_600_000] as const
/** Later tries at once. */
const mostAtOnce = 8
/** Callbacks on their way beyond which no later try begins. */
const mostReadPast = 1_000
/** Nothing is tried again for so long after the store has failed, in ms: what was told may still be in it. */
const storePauseMs = 60_000

/** The callbacks for one server, which waits for no other. Those of one call are told in order, as long as each is taken at its first try. */
export class Lane {
  readonly #parts: LaneParts
  readonly #server: string
  readonly #onIdle: () => void
  #waiting: number
  /** Callbacks that are on their way, or next in their call. */
  readonly #running = new Map<string, Promise<void>>()
  /** The last callback of each call that has one under way. */
  readonly #lastOf = new Map<string, Promise<void>>()
  #laterTries = 0
  #waking: Promise<void> = Promise.resolve()
  #timer: Timer | undefined
  #timerAt = Number.POSITIVE_INFINITY
  #notBefore = 0
  #closed = false
  /** When what is written down is left for the next run, in ms. */
  #lastStart = Number.POSITIVE_INFINITY

  /** `waiting`: those that an earlier run has left; they are tried now. `onIdle` is called when none waits any more. */
  constructor(parts: LaneParts, server: string, waiting: number, onIdle: () => void) {
    this.#parts = parts
    this.#server = server
    this.#waiting = waiting
    this.#onIdle = onIdle
    if (waiting > 0) this.#wakeAt(parts.clock.now())
  }

  /** Callbacks that were not taken yet. */
  get waiting(): number {
    return this.#waiting
  }

  /** So many more are written down, and are to be tried now. */
  more(count: number): void {
    this.#waiting += count
    this.#wakeAt(this.#parts.clock.now())
  }

  /** Writes a new callback down, and tells it unless the lane is closed: then the next run does. `ends`: see {@link CallbackRows.add}. */
  add(row: CallbackRow, ends?: string): void {
    this.#waiting++
    const written = this.#write(row, ends)
    void this.#run(row, async () => this.#try(row, await written))
  }

  /** No later tries from now on; for `graceMs` more it tells what it has not told yet, and leaves the rest for the next run. Idempotent. */
  async close(graceMs: number): Promise<void> {
    this.#closed = true
    this.#lastStart = Math.min(this.#lastStart, this.#parts.clock.now() + graceMs)
    this.#timer?.cancel()
    await this.#waking
    while (this.#running.size > 0) await Promise.all(this.#running.values())
    this.#lastStart = Number.NEGATIVE_INFINITY
  }

  /** False where it cannot be written: it is tried once all the same. */
  async #write(row: CallbackRow, ends?: string): Promise<boolean> {
    try {
      await this.#parts.rows.add(row, ends)
      return true
    } catch (error) {
      this.#parts.log.error({ callback: row.id, err: error }, 'a callback could not be written down')
      return false
    }
  }

  /** Runs `work` after what came before it in its call; never rejects. */
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

  /** What was waiting has been taken over by another gateway. */
  #nothing(): void {
    this.#waiting = 0
    this.#retire()
  }

  /** What comes next for the server is another lane's. */
  #retire(): void {
    this.#closed = true
    this.#timer?.cancel()
    this.#onIdle()
  }

  #failed(error: unknown): void {
    const { log, clock } = this.#parts
    log.error({ err: error }, 'the store of callbacks failed')
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
    if (!mayComeLater(status)) return this.#over(row, kept, 'refused', reason)
    const wait = waits[row.tries]
    if (wait === undefined || !kept) return this.#over(row, kept, 'given-up', reason)
    this.#tell(row, 'later', reason)
    const dueAt = this.#parts.clock.now() + wait
    await this.#parts.rows.postpone(id, row.tries + 1, dueAt)
    this.#wakeAt(dueAt)
  }

  async #over(row: CallbackRow, kept: boolean, outcome: string, reason?: string): Promise<void> {
    const { rows } = this.#parts
    this.#tell(row, outcome, reason)
    if (kept) await rows.remove(row.id)
    // It may be in the store all the same, where only the answer was lost, and would be told again by the next run.
    else rows.remove(row.id).catch(() => {})
    this.#waiting--
  }

  #tell({ id, call_id: call, kind, url, tries }: CallbackRow, outcome: string, reason?: string): void {
    this.#parts.metrics.callbacks.inc({ kind, outcome })
    const level = outcome === 'delivered' ? 'debug' : outcome === 'later' ? 'info' : 'warn'
    this.#parts.log[level](
      { callback: id, call, kind, url: cleanUrl(url), tries: tries + 1, ...(reason && { reason }) },
      `callback ${outcome}`,
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

  /** Tries what is due, and comes back for the rest. */
  async #tryDue(): Promise<void> {
    const { rows, clock, isSure } = this.#parts
    const room = mostAtOnce - this.#laterTries
    // Each that is over comes back here.
    if (room === 0) return
    const now = clock.now()
    if (!isSure()) return this.#wakeAt(now + storePauseMs)
    // Those that are on their way are in the store too, and would all have to be read past.
    if (this.#running.size > mostReadPast) return this.#wakeAt(now + waits[0])
    // One more than there is room for, to know when that is due.
    const next = await rows.next(this.#server, room + 1 + this.#running.size)
    if (this.#closed) return
    if (next.length === 0 && this.#running.size === 0) return this.#nothing()
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
