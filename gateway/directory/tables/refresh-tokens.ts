import type { RefreshTokenTable } from '../store/schema.ts'
import type { Store } from '../store/sqlite.ts'

/** Stored refresh token. */
export type RefreshTokenRow = Readonly<RefreshTokenTable>

/** Table of refresh tokens. */
export class RefreshTokenRows {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  async add(row: RefreshTokenRow): Promise<void> {
    await this.#store.insertInto('refresh_token').values(row).execute()
  }

  async find(hash: string): Promise<RefreshTokenRow | undefined> {
    return this.#store.selectFrom('refresh_token').selectAll().where('hash', '=', hash).executeTakeFirst()
  }

  /**
   * Marks a token as used and stores its successor, in one transaction. Returns false if the token was used
   * before, or no longer exists.
   */
  async replace(hash: string, usedAt: number, successor: RefreshTokenRow): Promise<boolean> {
    return this.#store.transaction().execute(async (transaction) => {
      const { numUpdatedRows } = await transaction
        .updateTable('refresh_token')
        .set({ used_at: usedAt })
        .where('hash', '=', hash)
        .where('used_at', 'is', null)
        .executeTakeFirst()
      if (numUpdatedRows !== 1n) return false
      await transaction.insertInto('refresh_token').values(successor).execute()
      return true
    })
  }

  /** Removes a whole family and returns its rows. */
  async removeFamily(family: string): Promise<readonly RefreshTokenRow[]> {
    return this.#store.deleteFrom('refresh_token').where('family', '=', family).returningAll().execute()
  }

  async removeOf(subscriberId: string): Promise<void> {
    await this.#store.deleteFrom('refresh_token').where('subscriber_id', '=', subscriberId).execute()
  }

  /** Removes tokens that expired before `now` (ms since the Unix epoch). */
  async removeEnded(now: number): Promise<void> {
    await this.#store.deleteFrom('refresh_token').where('expires_at', '<=', now).execute()
  }
}
