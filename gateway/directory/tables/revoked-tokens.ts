import type { Store } from '../store/sqlite.ts'

/** Revoked token, kept until it would have expired. Times in milliseconds since 1970. */
export interface RevokedToken {
  readonly id: string
  readonly expiresAt: number
}

/** Storage of revoked tokens. */
export interface RevokedRows {
  /** Returns the tokens that must still be kept. */
  all(now: number): Promise<readonly RevokedToken[]>
  find(id: string): Promise<RevokedToken | undefined>
  /** Stores a revoked token; has no effect if the token is already stored. */
  add(token: RevokedToken): Promise<void>
  removeEnded(now: number): Promise<void>
}

/** Table of revoked access tokens. */
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
