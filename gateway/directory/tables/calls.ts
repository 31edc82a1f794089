import { type SelectQueryBuilder, sql } from 'kysely'
import type { ListPage } from '../model/resource-types.ts'
import type { CallTable, Tables } from '../store/schema.ts'
import type { Store } from '../store/sqlite.ts'
import { type CdrRow, insertCdrs } from './cdrs.ts'
import { type EndCalls, endCallsOf, type Interrupted, upsertCalls } from './interrupted.ts'
import { removeOlder } from './remove-older.ts'

/** Stored call. */
export type StoredCall = Readonly<CallTable>

/**
 * Search for calls; each value is compared literally. Times in ms since 1970, `…From` inclusive, `…Until`
 * exclusive.
 */
export interface CallSearch extends ListPage {
  readonly fromUser?: string
  readonly fromUri?: string
  readonly toUser?: string
  readonly toUri?: string
  readonly status?: string
  readonly parentId?: string
  readonly startedFrom?: number
  readonly startedUntil?: number
  readonly endedFrom?: number
  readonly endedUntil?: number
}

/** Table of calls. */
export class CallRows {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  /** Stores calls, replacing earlier rows, and the CDRs of ended ones, in one transaction. */
  async save(calls: readonly StoredCall[], cdrs: readonly CdrRow[]): Promise<void> {
    await this.#store.transaction().execute(async (write) => {
      await upsertCalls(write, calls)
      await insertCdrs(write, cdrs)
    })
  }

  async find(projectId: string, id: string): Promise<StoredCall | undefined> {
    const called = this.#store.selectFrom('call').selectAll().where('id', '=', id)
    return called.where('project_id', '=', projectId).executeTakeFirst()
  }

  /**
   * Returns a page, the newest first, and whether there are more. A search by end times is ordered by end
   * time.
   */
  async list(projectId: string, search: CallSearch): Promise<{ rows: StoredCall[]; more: boolean }> {
    const rows = await this.#listing(projectId, search).execute()
    return { rows: rows.slice(0, search.size), more: rows.length > search.size }
  }

  /** Returns the steps of the query plan. For tests; SQLite only. */
  async plan(projectId: string, search: CallSearch): Promise<string> {
    const steps = await this.#listing(projectId, search).explain<{ detail: string }>(
      undefined,
      sql`query plan`,
    )
    return steps.map(({ detail }) => detail).join('\n')
  }

  /** Ends the calls of a stopped gateway, which was last seen at `seenAt` (ms since 1970). */
  interrupt(nodeId: string, seenAt: number, end: EndCalls): Promise<Interrupted> {
    const gone = { nodeId, seenAt, heir: nodeId }
    return this.#store.transaction().execute((write) => endCallsOf(write, gone, end))
  }

  /** Removes a call and its CDRs. */
  async remove(id: string): Promise<void> {
    await this.#store.transaction().execute(async (write) => {
      const { project_id: projectId } =
        (await write.deleteFrom('call').where('id', '=', id).returning('project_id').executeTakeFirst()) ?? {}
      if (projectId !== undefined)
        await write.deleteFrom('cdr').where('project_id', '=', projectId).where('call_id', '=', id).execute()
    })
  }

  /**
   * Removes calls that began before `before` (ms since the Unix epoch), the oldest first. Returns their
   * number.
   */
  removeOlder(before: number, most: number): Promise<number> {
    return removeOlder(this.#store, 'call', before, most)
  }

  /** Returns the number of calls. */
  async count(): Promise<number> {
    const row = await this.#store
      .selectFrom('call')
      .select((q) => q.fn.countAll<number>().as('count'))
      .executeTakeFirst()
    return Number(row?.count ?? 0)
  }

  #listing(projectId: string, search: CallSearch) {
    const { number, size, endedFrom, endedUntil } = search
    const order = endedFrom === undefined && endedUntil === undefined ? 'created_at' : 'ended_at'
    return filtered(this.#store.selectFrom('call').selectAll().where('project_id', '=', projectId), search)
      .orderBy(order, 'desc')
      .orderBy('id', 'desc')
      .limit(size + 1)
      .offset(number * size)
  }
}

const filtered = <T>(rows: SelectQueryBuilder<Tables, 'call', T>, search: CallSearch): typeof rows => {
  const { fromUser, fromUri, toUser, toUri, status, parentId } = search
  const { startedFrom, startedUntil, endedFrom, endedUntil } = search
  return rows
    .$if(fromUser !== undefined, (q) => q.where('from_user', '=', fromUser!))
    .$if(fromUri !== undefined, (q) => q.where('from_uri', '=', fromUri!))
    .$if(toUser !== undefined, (q) => q.where('to_user', '=', toUser!))
    .$if(toUri !== undefined, (q) => q.where('to_uri', '=', toUri!))
    .$if(status !== undefined, (q) => q.where('status', '=', status!))
    .$if(parentId !== undefined, (q) => q.where('parent_id', '=', parentId!))
    .$if(startedFrom !== undefined, (q) => q.where('created_at', '>=', startedFrom!))
    .$if(startedUntil !== undefined, (q) => q.where('created_at', '<', startedUntil!))
    .$if(endedFrom !== undefined, (q) => q.where('ended_at', '>=', endedFrom!))
    .$if(endedUntil !== undefined, (q) => q.where('ended_at', '<', endedUntil!))
}
