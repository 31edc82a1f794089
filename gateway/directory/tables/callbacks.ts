import type { CallbackTable } from '../store/schema.ts'
import type { Store, Write } from '../store/sqlite.ts'

/** Stored callback. */
export type CallbackRow = Readonly<Omit<CallbackTable, 'node_id'>>

/** Rows of the callbacks that one gateway has yet to deliver. */
export class CallbackRows {
  readonly #store: Store
  readonly #nodeId: string

  constructor(store: Store, nodeId: string) {
    this.#store = store
    this.#nodeId = nodeId
  }

  /**
   * Stores a callback. `ends`: call, recording or room session whose end the callback reports. Its row loses
   * the status target, so that no other gateway reports the same end.
   */
  async add(row: CallbackRow, ends?: string): Promise<void> {
    if (ends === undefined) await insertCallbacks(this.#store, this.#nodeId, [row])
    else
      await this.#store.transaction().execute(async (write) => {
        await insertCallbacks(write, this.#nodeId, [row])
        for (const table of ['call', 'recording', 'room_session'] as const)
          await write.updateTable(table).set({ status_json: null }).where('id', '=', ends).execute()
      })
  }

  /** Stores a failed attempt; the next one is due at `dueAt` (ms since the Unix epoch). */
  async postpone(id: string, tries: number, dueAt: number): Promise<void> {
    await this.#store
      .updateTable('callback')
      .set({ tries, due_at: dueAt })
      .where('id', '=', id)
      .where('node_id', '=', this.#nodeId)
      .execute()
  }

  /** Removes a callback that was delivered or given up. */
  async remove(id: string): Promise<void> {
    await this.#store.deleteFrom('callback').where('id', '=', id).execute()
  }

  /** Returns the number of callbacks for each server. */
  async counts(): Promise<ReadonlyMap<string, number>> {
    const rows = await this.#store
      .selectFrom('callback')
      .select((q) => ['server', q.fn.countAll<number>().as('count')])
      .where('node_id', '=', this.#nodeId)
      .groupBy('server')
      .execute()
    return new Map(rows.map(({ server, count }) => [server, Number(count)]))
  }

  /** Returns the next callbacks for a server, by due time and then by creation. */
  async next(server: string, limit: number): Promise<CallbackRow[]> {
    return this.#store
      .selectFrom('callback')
      .selectAll()
      .where('node_id', '=', this.#nodeId)
      .where('server', '=', server)
      .orderBy('due_at')
      .orderBy('created_at')
      .limit(limit)
      .execute()
  }
}

/** Maximum number of rows in one INSERT. */
const maxInserted = 200

/**
 * Stores callbacks for delivery by a gateway, except those already stored. Returns their number by server.
 */
export const insertCallbacks = async (
  write: Store | Write,
  nodeId: string,
  rows: readonly CallbackRow[],
): Promise<ReadonlyMap<string, number>> => {
  const counts = new Map<string, number>()
  for (let from = 0; from < rows.length; from += maxInserted) {
    const inserted = await write
      .insertInto('callback')
      .values(rows.slice(from, from + maxInserted).map((row) => ({ ...row, node_id: nodeId })))
      .onConflict((conflict) => conflict.column('id').doNothing())
      .returning('server')
      .execute()
    for (const { server } of inserted) counts.set(server, (counts.get(server) ?? 0) + 1)
  }
  return counts
}
