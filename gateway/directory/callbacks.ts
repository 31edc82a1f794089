import type { CallbackTable } from './schema.ts'
import type { Store, Write } from './sqlite.ts'

/** A callback as it is written down. */
export type CallbackRow = Readonly<Omit<CallbackTable, 'node_id'>>

/** The table of callbacks that were not delivered yet: those of one gateway, as each delivers its own. */
export class CallbackRows {
  readonly #store: Store
  readonly #nodeId: string

  constructor(store: Store, nodeId: string) {
    this.#store = store
    this.#nodeId = nodeId
  }

  /** `ends`: the call or recording whose end it tells, which nobody else is to tell any more. */
  async add(row: CallbackRow, ends?: string): Promise<void> {
    if (ends === undefined) await insertCallbacks(this.#store, this.#nodeId, [row])
    else
      await this.#store.transaction().execute(async (write) => {
        await insertCallbacks(write, this.#nodeId, [row])
        for (const table of ['call', 'recording'] as const)
          await write.updateTable(table).set({ status_json: null }).where('id', '=', ends).execute()
      })
  }

  /** It was tried in vain, and is to be tried again at `dueAt` (ms since the Unix epoch). */
  async postpone(id: string, tries: number, dueAt: number): Promise<void> {
    await this.#store
      .updateTable('callback')
      .set({ tries, due_at: dueAt })
      .where('id', '=', id)
      .where('node_id', '=', this.#nodeId)
      .execute()
  }

  /** It was delivered, or never will be. */
  async remove(id: string): Promise<void> {
    await this.#store.deleteFrom('callback').where('id', '=', id).execute()
  }

  /** Those that have no gateway yet are this one's from now on. */
  async adopt(): Promise<void> {
    await this.#store
      .updateTable('callback')
      .set({ node_id: this.#nodeId })
      .where('node_id', 'is', null)
      .execute()
  }

  /** How many there are for each server. */
  async counts(): Promise<ReadonlyMap<string, number>> {
    const rows = await this.#store
      .selectFrom('callback')
      .select((q) => ['server', q.fn.countAll<number>().as('count')])
      .where('node_id', '=', this.#nodeId)
      .groupBy('server')
      .execute()
    return new Map(rows.map(({ server, count }) => [server, Number(count)]))
  }

  /** The first ones for a server to be tried, by when that is, and as they came. */
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

/** Rows of one INSERT. */
const mostInserted = 200

/** Writes callbacks down that a gateway is to deliver, but those that are written down already. How many there were for each server. */
export const insertCallbacks = async (
  write: Store | Write,
  nodeId: string,
  rows: readonly CallbackRow[],
): Promise<ReadonlyMap<string, number>> => {
  const counts = new Map<string, number>()
  for (let from = 0; from < rows.length; from += mostInserted) {
    const inserted = await write
      .insertInto('callback')
      .values(rows.slice(from, from + mostInserted).map((row) => ({ ...row, node_id: nodeId })))
      .onConflict((conflict) => conflict.column('id').doNothing())
      .returning('server')
      .execute()
    for (const { server } of inserted) counts.set(server, (counts.get(server) ?? 0) + 1)
  }
  return counts
}
