import type { Store } from './sqlite.ts'

/** What was taken over of a gateway that is gone. */
export interface TakenOver {
  readonly nodeId: string
  /** Callbacks that it had not delivered, by the server that they are for. */
  readonly callbacks: ReadonlyMap<string, number>
  /** Calls of it that were in progress, and are over now. */
  readonly calls: number
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

  /** Those that were there last before `before` (ms since the Unix epoch). */
  async silent(before: number): Promise<readonly string[]> {
    const rows = await this.#store.selectFrom('node').select('id').where('seen_at', '<', before).execute()
    return rows.map(({ id }) => id)
  }

  /**
   * What a gateway has left that was there last before `before` is that of `heir` from `now` on; its calls end with `code`. Undefined where it has come
   * back, or another gateway was faster.
   */
  async takeOver(
    nodeId: string,
    before: number,
    { heir, code, now }: { readonly heir: string; readonly code: string; readonly now: number },
  ): Promise<TakenOver | undefined> {
    return this.#store.transaction().execute(async (write) => {
      // First of all its row: from here on it cannot come back before this is over, and nobody else takes the same.
      const gone = await write
        .deleteFrom('node')
        .where('id', '=', nodeId)
        .where('seen_at', '<', before)
        .executeTakeFirst()
      if (gone.numDeletedRows === 0n) return undefined
      const rows = await write
        .updateTable('callback')
        .set({ node_id: heir })
        .where('node_id', '=', nodeId)
        .returning('server')
        .execute()
      const { numUpdatedRows } = await write
        .updateTable('call')
        .set({ status: 'failed', code, ended_at: now })
        .where('node_id', '=', nodeId)
        .where('ended_at', 'is', null)
        .executeTakeFirst()
      const callbacks = new Map<string, number>()
      for (const { server } of rows) callbacks.set(server, (callbacks.get(server) ?? 0) + 1)
      return { nodeId, callbacks, calls: Number(numUpdatedRows) }
    })
  }
}
