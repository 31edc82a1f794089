import type { CallbackTable } from './schema.ts'
import type { Store } from './sqlite.ts'

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

  async add(row: CallbackRow): Promise<void> {
    await this.#store
      .insertInto('callback')
      .values({ ...row, node_id: this.#nodeId })
      .execute()
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
