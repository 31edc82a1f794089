import { type Ends, endCallsOf, endRecordingsOf, type Interrupted } from './interrupted.ts'
import type { Store } from './sqlite.ts'

/** What was taken over of a gateway that is gone: callbacks that it had not delivered are among those of {@link Interrupted}. */
export interface TakenOver extends Interrupted {
  readonly nodeId: string
}

/** The table of the gateways that share the store. */
export class NodeRows {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  /** A gateway is there, at `now` (ms since the Unix epoch). */
  async seen(id: string, now: number): Promise<void> {
    await this.#store
      .insertInto('node')
      .values({ id, seen_at: now })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ seen_at: now }))
      .execute()
  }

  /** When a gateway was there last, in ms since the Unix epoch; undefined: never. */
  async lastSeen(id: string): Promise<number | undefined> {
    const row = await this.#store.selectFrom('node').select('seen_at').where('id', '=', id).executeTakeFirst()
    return row && Number(row.seen_at)
  }

  /** Those that were there last before `before` (ms since the Unix epoch). */
  async silent(before: number): Promise<readonly string[]> {
    const rows = await this.#store.selectFrom('node').select('id').where('seen_at', '<', before).execute()
    return rows.map(({ id }) => id)
  }

  /**
   * What a gateway has left that was there last before `before` is that of `heir` from now on; its calls and recordings are over, as `ends` says.
   * Undefined where it has come back, or another gateway was faster.
   */
  async takeOver(
    nodeId: string,
    before: number,
    { heir, ends }: { readonly heir: string; readonly ends: Ends },
  ): Promise<TakenOver | undefined> {
    return this.#store.transaction().execute(async (write) => {
      // First of all its row: from here on it cannot come back before this is over, and nobody else takes the same.
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
      return { nodeId, calls: ended.calls, callbacks }
    })
  }
}
