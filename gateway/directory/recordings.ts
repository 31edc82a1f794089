import type { Listed, ListPage } from './resource-types.ts'
import type { RecordingTable } from './schema.ts'
import type { Store } from './sqlite.ts'

/** A recording as it is written down. */
export type RecordingRow = Readonly<RecordingTable>

/**
 * What recordings are looked for by; times of their beginning, in ms since 1970, `from` inclusive, `until`
 * not.
 */
export interface RecordingQuery extends ListPage {
  readonly callId?: string
  readonly from?: number
  readonly until?: number
}

/** Ids that are asked for together. */
const maxIdsPerQuery = 500

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

  /** A project's, newest first. */
  async list(projectId: string, query: RecordingQuery): Promise<Listed<RecordingRow>> {
    const { callId, from, until, number, size } = query
    let asked = this.#store.selectFrom('recording').where('project_id', '=', projectId)
    if (callId !== undefined) asked = asked.where('call_id', '=', callId)
    if (from !== undefined) asked = asked.where('started_at', '>=', from)
    if (until !== undefined) asked = asked.where('started_at', '<', until)
    const page = asked.selectAll().orderBy('started_at', 'desc').orderBy('id', 'desc')
    const rows = await page
      .limit(size + 1)
      .offset(number * size)
      .execute()
    // As many as it takes to know whether there is a further page: counting all of them would read all of
    // them.
    return { items: rows.slice(0, size), total: number * size + rows.length }
  }

  /** Those of the ids that are written down. */
  async known(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const found = new Set<string>()
    for (let from = 0; from < ids.length; from += maxIdsPerQuery) {
      const asked = ids.slice(from, from + maxIdsPerQuery)
      const rows = await this.#store.selectFrom('recording').select('id').where('id', 'in', asked).execute()
      for (const { id } of rows) found.add(id)
    }
    return found
  }

  async remove(id: string): Promise<void> {
    await this.#store.deleteFrom('recording').where('id', '=', id).execute()
  }

  /** Those of a gateway that are under way, or were when its process died. */
  async inProgress(nodeId: string): Promise<RecordingRow[]> {
    const own = this.#store.selectFrom('recording').selectAll().where('node_id', '=', nodeId)
    return own.where('ended_at', 'is', null).execute()
  }

  /** Those of a gateway that are over, and whose end nobody was told who is to be. */
  async untold(nodeId: string): Promise<RecordingRow[]> {
    const own = this.#store.selectFrom('recording').selectAll().where('node_id', '=', nodeId)
    return own.where('status_json', 'is not', null).where('ended_at', 'is not', null).execute()
  }

  /** Whoever is to be told of its end is told, or wants none of it. */
  async toldOf(id: string): Promise<void> {
    await this.#store.updateTable('recording').set({ status_json: null }).where('id', '=', id).execute()
  }

  /** Those that have no gateway yet are this one's from now on. */
  async adopt(nodeId: string): Promise<void> {
    await this.#store.updateTable('recording').set({ node_id: nodeId }).where('node_id', 'is', null).execute()
  }

  /**
   * The oldest of a gateway that are over, and that began before `before` (ms since the Unix epoch) where it
   * is given.
   */
  async oldest(nodeId: string, limit: number, before?: number): Promise<RecordingRow[]> {
    const own = this.#store.selectFrom('recording').selectAll().where('node_id', '=', nodeId)
    const over = own.where('ended_at', 'is not', null)
    const asked = before === undefined ? over : over.where('started_at', '<', before)
    return asked.orderBy('started_at').orderBy('id').limit(limit).execute()
  }

  /** Bytes of all of a gateway together. */
  async totalBytes(nodeId: string): Promise<number> {
    const row = await this.#store
      .selectFrom('recording')
      .where('node_id', '=', nodeId)
      .select((q) => q.fn.sum<number | null>('bytes').as('bytes'))
      .executeTakeFirst()
    return Number(row?.bytes ?? 0)
  }
}
