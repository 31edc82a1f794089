import type { Listed, ListPage } from '../model/resource-types.ts'
import type { RecordingTable } from '../store/schema.ts'
import type { Store } from '../store/sqlite.ts'

/** Stored recording. */
export type RecordingRow = Readonly<RecordingTable>

/** Formats of recordings of rooms. */
export const roomFormats = ['webm', 'mp4'] as const satisfies readonly RecordingRow['format'][]

/** Whether a recording is one of a room. */
export const isOfRoom = ({ format }: Pick<RecordingRow, 'format'>): boolean =>
  roomFormats.some((each) => each === format)

/** Search for recordings, with times of their start in ms since 1970, `from` inclusive, `until` exclusive. */
export interface RecordingQuery extends ListPage {
  readonly callId?: string
  readonly conferenceId?: string
  /** Formats; default any. */
  readonly formats?: readonly RecordingRow['format'][]
  readonly from?: number
  readonly until?: number
}

/** Maximum number of ids in one query. */
const maxIdsPerQuery = 500

/** Table of recordings. */
export class RecordingRows {
  #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  /** Stores a recording, replacing an earlier row. */
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

  /** Returns the recordings of a project, the newest first. */
  async list(projectId: string, query: RecordingQuery): Promise<Listed<RecordingRow>> {
    const { callId, conferenceId, formats, from, until, number, size } = query
    let selected = this.#store.selectFrom('recording').where('project_id', '=', projectId)
    if (callId !== undefined) selected = selected.where('call_id', '=', callId)
    if (conferenceId !== undefined) selected = selected.where('conference_id', '=', conferenceId)
    if (formats !== undefined) selected = selected.where('format', 'in', formats)
    if (from !== undefined) selected = selected.where('started_at', '>=', from)
    if (until !== undefined) selected = selected.where('started_at', '<', until)
    const page = selected.selectAll().orderBy('started_at', 'desc').orderBy('id', 'desc')
    const rows = await page
      .limit(size + 1)
      .offset(number * size)
      .execute()
    // Only enough to know whether there is a further page: counting would read all rows.
    return { items: rows.slice(0, size), total: number * size + rows.length }
  }

  /** Returns the given ids whose recordings are stored. */
  async known(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const found = new Set<string>()
    for (let from = 0; from < ids.length; from += maxIdsPerQuery) {
      const selected = ids.slice(from, from + maxIdsPerQuery)
      const rows = await this.#store
        .selectFrom('recording')
        .select('id')
        .where('id', 'in', selected)
        .execute()
      for (const { id } of rows) found.add(id)
    }
    return found
  }

  async remove(id: string): Promise<void> {
    await this.#store.deleteFrom('recording').where('id', '=', id).execute()
  }

  /**
   * Returns a gateway's recordings without a stored end: in progress, or cut off by the end of its process.
   */
  async inProgress(nodeId: string): Promise<RecordingRow[]> {
    const own = this.#store.selectFrom('recording').selectAll().where('node_id', '=', nodeId)
    return own.where('ended_at', 'is', null).execute()
  }

  /** Returns the ended recordings of a gateway that wait for their conversion or their upload. */
  async unfinished(nodeId: string): Promise<RecordingRow[]> {
    const own = this.#store.selectFrom('recording').selectAll().where('node_id', '=', nodeId)
    return own
      .where('ended_at', 'is not', null)
      .where('bytes', '>', 0)
      .where((q) => q.or([q('conversion', '=', 'pending'), q('storage_json', 'is not', null)]))
      .execute()
  }

  /** Marks a recording as uploaded. */
  async markUploaded(id: string): Promise<void> {
    await this.#store.updateTable('recording').set({ storage_json: null }).where('id', '=', id).execute()
  }

  /** Returns the ended recordings of a gateway whose end has not been reported. */
  async unreported(nodeId: string): Promise<RecordingRow[]> {
    const own = this.#store.selectFrom('recording').selectAll().where('node_id', '=', nodeId)
    return own.where('status_json', 'is not', null).where('ended_at', 'is not', null).execute()
  }

  /** Marks the end of a recording as reported. */
  async markReported(id: string): Promise<void> {
    await this.#store.updateTable('recording').set({ status_json: null }).where('id', '=', id).execute()
  }

  /**
   * Returns the oldest ended recordings of a gateway, without those that wait for their conversion. With
   * `before` (ms since the Unix epoch), only those that began before it.
   */
  async oldest(nodeId: string, limit: number, before?: number): Promise<RecordingRow[]> {
    const own = this.#store.selectFrom('recording').selectAll().where('node_id', '=', nodeId)
    const over = own.where('ended_at', 'is not', null).where('conversion', 'is', null)
    const selected = before === undefined ? over : over.where('started_at', '<', before)
    return selected.orderBy('started_at').orderBy('id').limit(limit).execute()
  }

  /** Returns the total size of a gateway's recordings in bytes. */
  async totalBytes(nodeId: string): Promise<number> {
    const row = await this.#store
      .selectFrom('recording')
      .where('node_id', '=', nodeId)
      .select((q) => [
        q.fn.sum<number | null>('bytes').as('bytes'),
        q.fn.sum<number | null>('files_bytes').as('filesBytes'),
      ])
      .executeTakeFirst()
    return Number(row?.bytes ?? 0) + Number(row?.filesBytes ?? 0)
  }
}
