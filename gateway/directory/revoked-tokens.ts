import type { RevokedRows, RevokedToken } from '../auth/revocations.ts'
import type { Store } from './sqlite.ts'

/** The table of access tokens that were revoked. */
export class RevokedTokenRows implements RevokedRows {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  async all(now: number): Promise<readonly RevokedToken[]> {
    const rows = await this.#store
      .selectFrom('revoked_token')
      .selectAll()
      .where('expires_at', '>', now)
      .execute()
    return rows.map(({ jti, expires_at }) => ({ id: jti, expiresAt: Number(expires_at) }))
  }

  async find(id: string): Promise<RevokedToken | undefined> {
    const row = await this.#store
      .selectFrom('revoked_token')
      .selectAll()
      .where('jti', '=', id)
      .executeTakeFirst()
    return row && { id: row.jti, expiresAt: Number(row.expires_at) }
  }

  async add({ id, expiresAt }: RevokedToken): Promise<void> {
    await this.#store
      .insertInto('revoked_token')
      .values({ jti: id, expires_at: expiresAt })
      .onConflict((conflict) => conflict.column('jti').doNothing())
      .execute()
  }

  async removeEnded(now: number): Promise<void> {
    await this.#store.deleteFrom('revoked_token').where('expires_at', '<=', now).execute()
  }
}
