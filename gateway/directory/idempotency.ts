import type { IdempotencyTable } from './schema.ts'
import type { Store } from './sqlite.ts'

/** A request with an idempotency key, and its answer as soon as there is one. */
export type IdempotencyRow = Readonly<IdempotencyTable>

/** Whose a key is, and the key. */
export type IdempotencyKey = Pick<IdempotencyRow, 'project_id' | 'key'>

/** The table of idempotency keys. */
export class IdempotencyRows {
  #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  /** Takes a key for a request that has no answer yet. Where it is taken, resolves with who has it; else with undefined. */
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

  /** Writes down the answer. */
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

  /** Gives the key back: what it was taken for did not happen. */
  async release({ project_id, key }: IdempotencyKey): Promise<void> {
    await this.#store
      .deleteFrom('idempotency')
      .where('project_id', '=', project_id)
      .where('key', '=', key)
      .execute()
  }

  /** Forgets those that are older (ms since the Unix epoch). */
  async prune(before: number): Promise<void> {
    await this.#store.deleteFrom('idempotency').where('created_at', '<', before).execute()
  }
}
