import type { RecordingTable } from './schema.ts'
import type { Store } from './sqlite.ts'

/** A recording as it is written down. */
export type RecordingRow = Readonly<RecordingTable>

/** Ids that are asked for together. */
const mostAsked = 500

/** The table of recordings. */
export class RecordingRows {
  #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  /** Writes it down, in place of what was written of it before. */
  async save(row: RecordingRow): Promise<void> {
    const { id, ...rest } = row
    await this.#store
      .insertInto('recording')
      .values(row)
      .onConflict((conflict) => conflict.column('id').doUpdateSet(rest))
      .execute()
  }

  async find(id: string): Promise<RecordingRow | undefined> {
    return this.#store.selectFrom('recording').selectAll().where('id', '=', id).executeTakeFirst()
  }

  /** Those of the ids that are written down. */
  async known(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const found = new Set<string>()
    for (let from = 0; from < ids.length; from += mostAsked) {
      const asked = ids.slice(from, from + mostAsked)
      const rows = await this.#store.selectFrom('recording').select('id').where('id', 'in', asked).execute()
      for (const { id } of rows) found.add(id)
    }
    return found
  }

  async remove(id: string): Promise<void> {
    await this.#store.deleteFrom('recording').where('id', '=', id).execute()
  }

  /** Those that are under way, or were when the process died. */
  async inProgress(): Promise<RecordingRow[]> {
    return this.#store.selectFrom('recording').selectAll().where('status', '=', 'in-progress').execute()
  }

  /** The oldest that are over, and that began before `before` (ms since the Unix epoch) where it is given. */
  async oldest(limit: number, before?: number): Promise<RecordingRow[]> {
    const over = this.#store.selectFrom('recording').selectAll().where('status', '!=', 'in-progress')
    const asked = before === undefined ? over : over.where('started_at', '<', before)
    return asked.orderBy('started_at').orderBy('id').limit(limit).execute()
  }

  /** Bytes of all together. */
  async totalBytes(): Promise<number> {
    const row = await this.#store
      .selectFrom('recording')
      .select((q) => q.fn.sum<number | null>('bytes').as('bytes'))
      .executeTakeFirst()
    return Number(row?.bytes ?? 0)
  }
}
