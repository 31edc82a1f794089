import type { CallbackTable } from './schema.ts'
import type { Store } from './sqlite.ts'

/** A callback as it is written down. */
export type CallbackRow = Readonly<CallbackTable>

/** The table of callbacks that were not delivered yet. */
export class CallbackRows {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  async add(row: CallbackRow): Promise<void> {
    await this.#store.insertInto('callback').values(row).execute()
  }

  /** It was tried in vain, and is to be tried again at `dueAt` (ms since the Unix epoch). */
  async postpone(id: string, tries: number, dueAt: number): Promise<void> {
    await this.#store.updateTable('callback').set({ tries, due_at: dueAt }).where('id', '=', id).execute()
  }

  async remove(id: string): Promise<void> {
    await this.#store.deleteFrom('callback').where('id', '=', id).execute()
  }

  /** How many there are for each server. */
  async counts(): Promise<ReadonlyMap<string, number>> {
    const rows = await this.#store
      .selectFrom('callback')
      .select((q) => ['server', q.fn.countAll<number>().as('count')])
      .groupBy('server')
      .execute()
    return new Map(rows.map(({ server, count }) => [server, Number(count)]))
  }

  /** The first ones for a server to be tried, by when that is; those of one moment as they came. */
  async next(server: string, limit: number): Promise<CallbackRow[]> {
    return this.#store
      .selectFrom('callback')
      .selectAll()
      .where('server', '=', server)
      .orderBy('due_at')
      .orderBy('created_at')
      .limit(limit)
      .execute()
  }
}
