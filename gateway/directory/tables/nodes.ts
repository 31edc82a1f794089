import type { Store } from '../store/sqlite.ts'
import { type Ends, endCallsOf, endRecordingsOf, type Interrupted } from './interrupted.ts'
import { endRoomSessionsOf } from './room-sessions.ts'

/**
 * Result of taking over from a stopped gateway. The callbacks of {@link Interrupted} include its undelivered
 * callbacks.
 */
export interface TakenOver extends Interrupted {
  readonly nodeId: string
}

/** Table of the gateways that share the store. */
export class NodeRows {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  /** Stores that a gateway was running at `now` (ms since the Unix epoch). */
  async seen(id: string, now: number): Promise<void> {
    await this.#store
      .insertInto('node')
      .values({ id, seen_at: now })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ seen_at: now }))
      .execute()
  }

  /** Returns the time when a gateway was last seen, in ms since the Unix epoch; undefined for never. */
  async lastSeen(id: string): Promise<number | undefined> {
    const row = await this.#store.selectFrom('node').select('seen_at').where('id', '=', id).executeTakeFirst()
    return row && Number(row.seen_at)
  }

  /** Returns the ids of the gateways last seen before `before` (ms since the Unix epoch). */
  async silent(before: number): Promise<readonly string[]> {
    const rows = await this.#store.selectFrom('node').select('id').where('seen_at', '<', before).execute()
    return rows.map(({ id }) => id)
  }

  /**
   * Transfers the callbacks of a gateway last seen before `before` to `heir`, and ends its calls, recordings
   * and room sessions by `ends`. Returns undefined if the gateway has come back, or another gateway has
   * already taken over.
   */
  async takeOver(
    nodeId: string,
    before: number,
    { heir, ends }: { readonly heir: string; readonly ends: Ends },
  ): Promise<TakenOver | undefined> {
    return this.#store.transaction().execute(async (write) => {
      // The row of the gateway is removed first. The lock on the row stops the gateway from coming back, and
      // others from taking over, meanwhile.
      const gone = await write
        .deleteFrom('node')
        .where('id', '=', nodeId)
        .where('seen_at', '<', before)
        .returning('seen_at')
        .executeTakeFirst()
      if (!gone) return undefined
      const rows = await write
        .updateTable('callback')
        .set({ node_id: heir })
        .where('node_id', '=', nodeId)
        .returning('server')
        .execute()
      const from = { nodeId, seenAt: Number(gone.seen_at), heir }
      const ended = await endCallsOf(write, from, ends.calls)
      const callbacks = new Map(ended.callbacks)
      const more = (server: string, count: number) =>
        callbacks.set(server, (callbacks.get(server) ?? 0) + count)
      for (const { server } of rows) more(server, 1)
      for (const [server, count] of await endRecordingsOf(write, from, ends.recordings)) more(server, count)
      const rooms = await endRoomSessionsOf(write, from, ends.rooms)
      for (const [server, count] of rooms.callbacks) more(server, count)
      return { nodeId, calls: ended.calls, callbacks }
    })
  }
}
