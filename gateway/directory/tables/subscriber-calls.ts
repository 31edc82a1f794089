import { sql } from 'kysely'
import type { SubscriberCallTable } from '../store/schema.ts'
import type { Store, Write } from '../store/sqlite.ts'
import { removeOlder } from './remove-older.ts'

/** Call of a subscriber with its gateway, if it is in progress. */
export type StoredSubscriberCall = Readonly<SubscriberCallTable>

/** Ended call of a subscriber. */
export type SubscriberCallRow = Omit<StoredSubscriberCall, 'node_id'>

/** Call that rang when its gateway crashed. */
export type InterruptedCall = Pick<SubscriberCallRow, 'subscriber_id' | 'call_id' | 'ended_at'>

/** Search for calls of one subscriber. */
export interface SubscriberCallSearch {
  readonly result?: string
  /** Time in ms since 1970; only calls that ended later are returned. */
  readonly endedAfter?: number
}

/** Position in a list, which is ordered by the end, the newest first. */
export interface SubscriberCallPosition {
  readonly endedAt: number
  readonly id: string
}

/** Table of the calls of subscribers. */
export class SubscriberCallRows {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  /** Stores calls, replacing earlier rows. Calls of removed subscribers are left out. */
  async save(calls: readonly StoredSubscriberCall[]): Promise<void> {
    await this.#store.transaction().execute(async (write) => {
      const ids = [...new Set(calls.map(({ subscriber_id }) => subscriber_id))]
      const found = await write.selectFrom('resource').select('id').where('id', 'in', ids).execute()
      const known = new Set(found.map(({ id }) => id))
      const rows = calls.filter(({ subscriber_id }) => known.has(subscriber_id))
      if (rows.length === 0) return
      await write
        .insertInto('subscriber_call')
        .values(rows)
        .onConflict((conflict) =>
          conflict.column('id').doUpdateSet((row) => ({
            result: row.ref('excluded.result'),
            code: row.ref('excluded.code'),
            answered_at: row.ref('excluded.answered_at'),
            ended_at: row.ref('excluded.ended_at'),
            node_id: row.ref('excluded.node_id'),
          })),
        )
        .execute()
    })
  }

  /** Returns at most `most` ended calls of a subscriber, the newest first, from the position `after`. */
  of(
    subscriberId: string,
    search: SubscriberCallSearch,
    most: number,
    after?: SubscriberCallPosition,
  ): Promise<SubscriberCallRow[]> {
    const { result, endedAfter } = search
    return this.#store
      .selectFrom('subscriber_call')
      .selectAll()
      .where('subscriber_id', '=', subscriberId)
      .where('node_id', 'is', null)
      .$if(result !== undefined, (q) => q.where('result', '=', result!))
      .$if(endedAfter !== undefined, (q) => q.where('ended_at', '>', endedAfter!))
      .$if(after !== undefined, (q) =>
        q.where(sql<boolean>`(ended_at, id) < (${after!.endedAt}, ${after!.id})`),
      )
      .orderBy('ended_at', 'desc')
      .orderBy('id', 'desc')
      .limit(most)
      .execute()
  }

  /**
   * Returns the calls that rang at subscribers when their gateway crashed, and that ended after `after` (ms
   * since the Unix epoch).
   */
  interruptedRinging(after: number): Promise<InterruptedCall[]> {
    return this.#store
      .selectFrom('subscriber_call')
      .select(['subscriber_id', 'call_id', 'ended_at'])
      .where('ended_at', '>', after)
      .where('code', '=', 'interrupted')
      .where('direction', '=', 'inbound')
      .where('answered_at', 'is', null)
      .where('node_id', 'is', null)
      .execute()
  }

  /**
   * Removes calls that ended before `before` (ms since the Unix epoch), the oldest first. Returns their
   * number.
   */
  removeOlder(before: number, most: number): Promise<number> {
    return removeOlder(this.#store, 'subscriber_call', before, most)
  }
}

/** Ends the calls in progress of a stopped gateway, at the time when it was last seen. */
export const endSubscriberCallsOf = async (
  write: Write,
  { nodeId, seenAt }: { readonly nodeId: string; readonly seenAt: number },
): Promise<void> => {
  await write
    .updateTable('subscriber_call')
    .set({
      node_id: null,
      ended_at: sql<number>`case when ended_at < ${seenAt} then ${seenAt} else ended_at end`,
    })
    .where('node_id', '=', nodeId)
    .execute()
}
