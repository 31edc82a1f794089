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
import type { Listed } from '../directory/model/resource-types.ts'
import { isUuid } from '../directory/model/uuid.ts'
import type { CallRows } from '../directory/tables/calls.ts'
import type { CdrPart, CdrPosition, CdrRow, CdrRows, CdrSearch } from '../directory/tables/cdrs.ts'
import type { EndCalls } from '../directory/tables/interrupted.ts'
import { cdrsOf } from './cdr-of.ts'
import { ExpiredRows } from './expired-rows.ts'
import { toCallRow, toStoredCall, toStoreSearch } from './stored-calls.ts'
import { WriteBehind } from './write-behind.ts'

/** Maximum time for the last writes at shutdown, in ms. */
const maxCloseMs = 5_000
/** Maximum number of rows that a page of a list may skip. */
const maxOffset = 100_000
/** Maximum delay between the end of a call and its CDR, in ms. */
const maxCdrDelayMs = 60_000

/** Options and collaborators of {@link CdrStore}. */
export interface CdrStoreOptions {
  readonly calls: CallRows
  readonly cdrs: CdrRows
  /** Id of this gateway among the gateways that share the store. */
  readonly nodeId: string
  /** Last heartbeat of this gateway before its start, in ms since 1970. */
  readonly wasThereAt: number
  /** Returns how the calls of a stopped process are recorded as ended. */
  readonly end: EndCalls
  /**
   * Called after interrupted calls were ended, with the number of callbacks by server that their ends have
   * stored.
   */
  readonly onCallbacks: (waiting: ReadonlyMap<string, number>) => void
  /** Time for which calls and CDRs are kept, in ms. */
  readonly keepMs: number
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Pick<Metrics, 'recordsLost' | 'recordsRemoved'>
}

type Entry = { readonly call: CallRow } | { readonly record: CallCdr }

/** Stores calls in progress, ended calls and CDRs. Calls never wait for the store. */
export class CdrStore implements CallRowStore, CallHistory, CallsInProgress {
  readonly #options: CdrStoreOptions
  readonly #behind: WriteBehind<Entry>
  readonly #expired: ExpiredRows
  /** Calls in progress, by id. */
  readonly #live = new Map<string, CallRow>()
  /** Times at which calls were removed, by call id. A removed call's CDR may still arrive. */
  readonly #removed = new Map<string, number>()
  #kept = 0

  private constructor(options: CdrStoreOptions) {
    const { clock, log, metrics } = options
    this.#options = options
    const onLost = (entries: number) => metrics.recordsLost.inc(entries)
    this.#behind = new WriteBehind<Entry>({ write: (entries) => this.#save(entries), clock, log, onLost })
    const { calls, cdrs, keepMs } = options
    const count = async () => {
      this.#kept = (await calls.count()) + (await cdrs.count())
    }
    this.#expired = new ExpiredRows({ tables: [calls, cdrs], clock, log, metrics }, keepMs, count)
  }

  /**
   * Opens the store. Records the end of calls that were in progress when an earlier process of this gateway
   * died. Rejects if the store cannot be used.
   */
  static async open(options: CdrStoreOptions): Promise<CdrStore> {
    const records = new CdrStore(options)
    const { calls, nodeId, wasThereAt, end, onCallbacks, log } = options
    const gone = await calls.interrupt(nodeId, wasThereAt, end)
    const interrupted = gone.calls
    if (interrupted > 0)
      log.warn(
        { event: 'cdr.calls-interrupted', calls: interrupted, code: 'interrupted' },
        'calls of the previous process recorded as interrupted',
      )
    onCallbacks(gone.callbacks)
    records.#expired.start()
    return records
  }

  /** Changes the time for which calls and CDRs are kept. */
  change(keepMs: number): void {
    this.#expired.change(keepMs)
  }

  /** Number of calls and CDRs that wait to be written. */
  get waiting(): number {
    return this.#behind.waiting
  }

  /** Number of rows of calls and CDRs in the store, counted at most an hour ago. */
  get kept(): number {
    return this.#kept
  }

  /** Number of calls in progress. */
  get live(): number {
    return this.#live.size
  }

  /** Rows of calls and branches in progress, in the order of their start. */
  get rowsInProgress(): readonly CallRow[] {
    return [...this.#live.values()]
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

  /** Stores the CDR of an ended call. */
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
    if (number * size > maxOffset)
      throw new TrunklineError(
        'invalid_field',
        'The page is too far from the start of the list; request a shorter period.',
        {
          attribute: 'page_number',
        },
      )
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

  /** Returns the CDR of a call or of a leg. */
  async record(projectId: string, kind: 'call' | 'leg', id: string): Promise<CdrRow | undefined> {
    if (!isUuid(id)) return undefined
    await this.#behind.attempt()
    return this.#options.cdrs.find(projectId, kind, id)
  }

  /**
   * Returns at most `most` CDRs of a list, newest first, from the position `after`. The CDRs of a call and
   * its legs are adjacent, with the legs in order. A search by call returns all CDRs of that call.
   */
  async part(projectId: string, search: CdrSearch, most: number, after?: CdrPosition): Promise<CdrPart> {
    if (!after) await this.#behind.attempt()
    const { callId } = search
    if (callId !== undefined)
      return { rows: await this.#options.cdrs.ofCall(projectId, { ...search, callId }) }
    return this.#options.cdrs.part(projectId, search, most, after)
  }

  /** Writes waiting rows, for at most 5 s. Close the store after the calls and before the database. */
  async close(): Promise<void> {
    await this.#expired.close()
    await this.#behind.close(maxCloseMs)
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
    const late = this.#options.clock.now() - maxCdrDelayMs
    for (const [id, at] of this.#removed) {
      if (at > late) return
      this.#removed.delete(id)
    }
  }
}
