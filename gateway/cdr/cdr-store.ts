import type { CallCdr } from '../calls/log/call-cdr.ts'
import type {
  CallEndChange,
  CallHistory,
  CallQuery,
  CallRow,
  CallRowChange,
  CallRowStore,
  CallsInProgress,
} from '../calls/log/call-rows.ts'
import type { Clock } from '../core/clock.ts'
import { TrunklineError } from '../core/errors/catalogue.ts'
import type { Log } from '../core/log.ts'
import type { Metrics } from '../core/metrics.ts'
import { PeriodicTask } from '../core/periodic-task.ts'
import type { CallRows } from '../directory/calls.ts'
import type { CdrPart, CdrPosition, CdrRow, CdrRows, CdrSearch } from '../directory/cdrs.ts'
import type { EndCalls } from '../directory/interrupted.ts'
import type { Listed } from '../directory/resource-types.ts'
import { isUuid } from '../directory/uuid.ts'
import { cdrsOf } from './cdr-of.ts'
import { toCallRow, toStoredCall, toStoreSearch } from './stored-calls.ts'
import { WriteBehind } from './write-behind.ts'

/** How often old records are looked for. */
const TIDY_MS = 3_600_000
/** Rows that are removed together: the store does nothing else meanwhile. */
const PORTION = 200
/** Longest that the end of the process waits for the store. */
const CLOSE_MS = 5_000
/** Rows that a list of calls passes over at most, to come to its page. */
const MOST_PASSED_OVER = 100_000
/** Time within which the record of a call comes after its end, with room to spare. */
const RECORD_LATE_MS = 60_000

/** What records are kept with. */
export interface CdrStoreOptions {
  readonly calls: CallRows
  readonly cdrs: CdrRows
  /** Of this gateway, among those that share the store. */
  readonly nodeId: string
  /** When this gateway was there last, before it started, in ms since 1970. */
  readonly wasThereAt: number
  /** How calls end that went with the process that had them. */
  readonly end: EndCalls
  /** Told of the callbacks of their ends, which are written down by then: how many for each server. */
  readonly onCallbacks: (waiting: ReadonlyMap<string, number>) => void
  /** How long calls and their records are kept, in ms. */
  readonly keepMs: number
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Pick<Metrics, 'recordsLost' | 'recordsRemoved'>
}

type Entry = { readonly call: CallRow } | { readonly record: CallCdr }

/**
 * Keeps calls while they go on and afterwards, and the records of those that are over. Nothing that calls do
 * waits for the store.
 */
export class CdrStore implements CallRowStore, CallHistory, CallsInProgress {
  #options: CdrStoreOptions
  readonly #behind: WriteBehind<Entry>
  readonly #tidying: PeriodicTask
  /** Calls in progress, as they are now. */
  readonly #live = new Map<string, CallRow>()
  /** Calls that were removed so lately that their records may still come, by when that was. */
  readonly #removed = new Map<string, number>()
  #first: Promise<void> = Promise.resolve()
  #kept = 0
  #closing = false

  private constructor(options: CdrStoreOptions) {
    const { clock, log, metrics } = options
    this.#options = options
    const onLost = (entries: number) => metrics.recordsLost.inc(entries)
    this.#behind = new WriteBehind<Entry>({ write: (entries) => this.#save(entries), clock, log, onLost })
    this.#tidying = new PeriodicTask(clock, TIDY_MS, () => this.#tidy())
  }

  /**
   * Opens them: calls of this gateway that were in progress when its process died are over now. Rejects where
   * the store cannot be used.
   */
  static async open(options: CdrStoreOptions): Promise<CdrStore> {
    const records = new CdrStore(options)
    const { calls, nodeId, wasThereAt, end, onCallbacks, log } = options
    const gone = await calls.interrupt(nodeId, wasThereAt, end)
    const interrupted = gone.calls
    if (interrupted > 0) log.warn({ calls: interrupted, code: 'interrupted' }, 'calls went with the process')
    onCallbacks(gone.callbacks)
    records.#first = records.#tidy().then(() => records.#tidying.start())
    return records
  }

  /** Keeps calls and their records for so long from now on. */
  change(keepMs: number): void {
    this.#options = { ...this.#options, keepMs }
  }

  /** Calls and records that are not written yet. */
  get waiting(): number {
    return this.#behind.waiting
  }

  /** Rows of calls and of records in the store, as they were counted last, at most an hour ago. */
  get kept(): number {
    return this.#kept
  }

  /** Calls in progress. */
  get live(): number {
    return this.#live.size
  }

  inProgress(id: string): CallRow | undefined {
    return this.#live.get(id)
  }

  calledBy(id: string): readonly CallRow[] {
    return [...this.#live.values()].filter(({ parentId }) => parentId === id)
  }

  began(call: Omit<CallRow, 'status'>): CallRow {
    return this.#put({ ...call, status: 'queued' })
  }

  changed(id: string, change: CallRowChange): CallRow | undefined {
    const call = this.#live.get(id)
    return call && this.#put({ ...call, ...change })
  }

  ended(id: string, end: CallEndChange): CallRow | undefined {
    const call = this.#live.get(id)
    if (!call) return undefined
    const row = this.#put({ ...call, ...end })
    this.#live.delete(id)
    return row
  }

  /** Keeps the record of a call that is over. */
  keep(record: CallCdr): void {
    if (!this.#removed.has(record.call)) this.#behind.put(`record ${record.call}`, { record })
  }

  async find(projectId: string, id: string): Promise<CallRow | undefined> {
    const live = this.#live.get(id)
    if (live) return live.projectId === projectId ? live : undefined
    if (!isUuid(id)) return undefined
    await this.#behind.attempt()
    const row = await this.#options.calls.find(projectId, id)
    return row && toCallRow(row)
  }

  async list(projectId: string, query: CallQuery): Promise<Listed<CallRow>> {
    const { number, size } = query
    if (number * size > MOST_PASSED_OVER)
      throw new TrunklineError('invalid_field', 'The list is too long for this page; ask for less time.', {
        attribute: 'page_number',
      })
    await this.#behind.attempt()
    const { rows, more } = await this.#options.calls.list(projectId, toStoreSearch(query))
    return { items: rows.map(toCallRow), total: number * size + rows.length + (more ? 1 : 0) }
  }

  async remove(projectId: string, id: string): Promise<void> {
    const call = await this.find(projectId, id)
    if (!call) throw new TrunklineError('unknown_call')
    if (call.endedAt === undefined) throw new TrunklineError('call_in_progress')
    this.#forgetRemoved()
    this.#removed.set(id, this.#options.clock.now())
    await this.#behind.settled()
    await this.#options.calls.remove(id)
  }

  settled(): Promise<void> {
    return this.#behind.settled()
  }

  /** The record of a call, or of a leg. */
  async record(projectId: string, kind: 'call' | 'leg', id: string): Promise<CdrRow | undefined> {
    if (!isUuid(id)) return undefined
    await this.#behind.attempt()
    return this.#options.cdrs.find(projectId, kind, id)
  }

  /**
   * Part of a list of records, the newest first; those of one call come all at once, its legs in their order.
   */
  async part(projectId: string, search: CdrSearch, most: number, after?: CdrPosition): Promise<CdrPart> {
    if (!after) await this.#behind.attempt()
    const { callId } = search
    if (callId !== undefined)
      return { rows: await this.#options.cdrs.ofCall(projectId, { ...search, callId }) }
    return this.#options.cdrs.part(projectId, search, most, after)
  }

  /** Writes what waits, for seconds at most. To be closed after the calls, and before the store. */
  async close(): Promise<void> {
    this.#closing = true
    await Promise.all([this.#first, this.#tidying.close()])
    await this.#behind.close(CLOSE_MS)
  }

  #put(call: CallRow): CallRow {
    this.#live.set(call.id, call)
    this.#behind.put(call.id, { call })
    return call
  }

  async #save(entries: readonly Entry[]): Promise<void> {
    const { calls: rows, nodeId } = this.#options
    const calls = entries.flatMap((entry) => ('call' in entry ? toStoredCall(entry.call, nodeId) : []))
    const cdrs = entries.flatMap((entry) => ('record' in entry ? cdrsOf(entry.record) : []))
    await rows.save(calls, cdrs)
  }

  #forgetRemoved(): void {
    const late = this.#options.clock.now() - RECORD_LATE_MS
    for (const [id, at] of this.#removed) {
      if (at > late) return
      this.#removed.delete(id)
    }
  }

  async #tidy(): Promise<void> {
    const { calls, cdrs, keepMs, clock, log, metrics } = this.#options
    const before = clock.now() - keepMs
    try {
      for (const rows of [calls, cdrs]) {
        let removed = PORTION
        while (removed === PORTION && !this.#closing) {
          removed = await rows.removeOlder(before, PORTION)
          metrics.recordsRemoved.inc(removed)
          await new Promise(setImmediate)
        }
      }
      this.#kept = (await calls.count()) + (await cdrs.count())
    } catch (error) {
      log.error({ err: error }, 'old records of calls could not be looked for')
    }
  }
}
