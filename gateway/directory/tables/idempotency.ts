import type { IdempotencyTable } from '../store/schema.ts'
import type { Store } from '../store/sqlite.ts'

/** Request with an idempotency key, and its response once available. */
export type IdempotencyRow = Readonly<IdempotencyTable>

/** Project and idempotency key. */
export type IdempotencyKey = Pick<IdempotencyRow, 'project_id' | 'key'>

/** Table of idempotency keys. */
export class IdempotencyRows {
  #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  /**
   * Claims a key for a request. Resolves with undefined if the key was free, otherwise with the earlier
   * request.
   */
  async claim(row: IdempotencyKey & Pick<IdempotencyRow, 'route' | 'request_hash' | 'created_at'>) {
    const { numInsertedOrUpdatedRows } = await this.#store
      .insertInto('idempotency')
      .values({ ...row, status: null, body: null, content_type: null })
      .onConflict((conflict) => conflict.columns(['project_id', 'key']).doNothing())
      .executeTakeFirst()
    return numInsertedOrUpdatedRows ? undefined : this.find(row)
  }

  async find({ project_id, key }: IdempotencyKey): Promise<IdempotencyRow | undefined> {
    return this.#store
      .selectFrom('idempotency')
      .selectAll()
      .where('project_id', '=', project_id)
      .where('key', '=', key)
      .executeTakeFirst()
  }

  /** Stores the response. */
  async answer(
    { project_id, key }: IdempotencyKey,
    answer: Pick<IdempotencyRow, 'status' | 'body' | 'content_type'>,
  ): Promise<void> {
    await this.#store
      .updateTable('idempotency')
      .set(answer)
      .where('project_id', '=', project_id)
      .where('key', '=', key)
      .execute()
  }

  /** Releases a key whose request had no effect, so that the request can be repeated. */
  async release({ project_id, key }: IdempotencyKey): Promise<void> {
    await this.#store
      .deleteFrom('idempotency')
      .where('project_id', '=', project_id)
      .where('key', '=', key)
      .execute()
  }

  /** Removes keys that were claimed before a time (ms since the Unix epoch). */
  async prune(before: number): Promise<void> {
    await this.#store.deleteFrom('idempotency').where('created_at', '<', before).execute()
  }
}
