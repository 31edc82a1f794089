import { createHash } from 'node:crypto'
import type { AdapterPayload } from 'oidc-provider'
import type { OAuthPayloadTable } from '../../directory/store/schema.ts'
import type { Store } from '../../directory/store/sqlite.ts'
import type { Revocations } from '../revocations.ts'

/** Collaborators of {@link OAuthPayloads}. */
export interface OAuthPayloadDeps {
  readonly store: Store
  readonly revocations: Pick<Revocations, 'revoke'>
  /** Returns milliseconds since 1970. */
  readonly now: () => number
}

/**
 * Sessions, grants, codes, refresh tokens and sign-ins in progress. Access to the store is not enough to use
 * them. Only the hash of each id is stored, and the id itself is removed from the payload. Sessions and
 * sign-ins in progress also need a cookie signed by a key that is not in the store.
 */
export class OAuthPayloads {
  readonly #store: Store
  readonly #revocations: OAuthPayloadDeps['revocations']
  readonly #now: () => number

  constructor({ store, revocations, now }: OAuthPayloadDeps) {
    this.#store = store
    this.#revocations = revocations
    this.#now = now
  }

  /** Stores a payload for `seconds`. A payload that was consumed before stays consumed. */
  async save(model: string, id: string, payload: AdapterPayload, seconds: number): Promise<void> {
    const { jti: _id, ...rest } = payload
    const row = {
      payload_json: JSON.stringify(rest),
      grant_id: comesOfGrant.has(model) ? (payload.grantId ?? null) : null,
      // Used by the device flow only, which is off.
      user_code: null,
      uid: payload.uid ?? null,
      expires_at: this.#now() + seconds * 1000,
    }
    await this.#store
      .insertInto('oauth_payload')
      .values({ model, id: keyOf(model, id), consumed_at: null, ...row })
      .onConflict((conflict) => conflict.columns(['model', 'id']).doUpdateSet(row))
      .execute()
  }

  async find(model: string, id: string): Promise<AdapterPayload | undefined> {
    const row = await this.#store
      .selectFrom('oauth_payload')
      .selectAll()
      .where('model', '=', model)
      .where('id', '=', keyOf(model, id))
      .executeTakeFirst()
    return row && { ...payloadOf(row), jti: id }
  }

  /** Finds a session by its uid; the result does not contain the browser's id. */
  async findByUid(model: string, uid: string): Promise<AdapterPayload | undefined> {
    const row = await this.#store
      .selectFrom('oauth_payload')
      .selectAll()
      .where('model', '=', model)
      .where('uid', '=', uid)
      .executeTakeFirst()
    return row && payloadOf(row)
  }

  /**
   * Marks a code or a refresh token as used. Returns false, and revokes its grant, if it was used before,
   * even by a simultaneous request (RFC 9700 sections 2.1.1 and 4.14.2).
   */
  async consume(model: string, id: string): Promise<boolean> {
    const key = keyOf(model, id)
    const { numUpdatedRows } = await this.#store
      .updateTable('oauth_payload')
      .set({ consumed_at: this.#now() })
      .where('model', '=', model)
      .where('id', '=', key)
      .where('consumed_at', 'is', null)
      .executeTakeFirst()
    if (numUpdatedRows === 1n) return true
    const grant = (await this.find(model, id))?.grantId
    if (grant !== undefined) await this.revokeGrant(grant)
    return false
  }

  async remove(model: string, id: string): Promise<void> {
    await this.#store
      .deleteFrom('oauth_payload')
      .where('model', '=', model)
      .where('id', '=', keyOf(model, id))
      .execute()
  }

  /**
   * Stores the grant of an access token, so that the token ends with it; `expiresAt` in seconds since 1970.
   * Returns false if the grant is revoked: the token must not be issued.
   */
  async addAccessToken(token: AccessTokenOfGrant): Promise<boolean> {
    const { id, grantId, subscriberId, clientId, expiresAt } = token
    const payload_json = JSON.stringify({ accountId: subscriberId, clientId })
    const row = { payload_json, user_code: null, uid: null, consumed_at: null }
    await this.#store
      .insertInto('oauth_payload')
      .values({ model: accessToken, id, grant_id: grantId, expires_at: expiresAt * 1000, ...row })
      .execute()
    // Checked after the write: a revocation removes the grant first, and then finds the grant's tokens.
    return (await this.find('Grant', grantId)) !== undefined
  }

  /** Revokes a grant with its codes and tokens. Access tokens are invalid when this resolves. */
  async revokeGrant(grantId: string): Promise<void> {
    await this.remove('Grant', grantId)
    const ofGrant = this.#store.selectFrom('oauth_payload').where('grant_id', '=', grantId)
    await this.#revoke(await ofGrant.selectAll().where('model', '=', accessToken).execute())
    await this.#store.deleteFrom('oauth_payload').where('grant_id', '=', grantId).execute()
  }

  /**
   * Revokes every grant of a client with its codes and tokens. Access tokens are invalid when this resolves.
   */
  async revokeClient(clientId: string): Promise<void> {
    // The grants first: the issuer of a token checks its grant after the write.
    const rows = await this.#ofClient(clientId)
    await this.#remove(rows.filter(({ model }) => model === 'Grant'))
    const rest = (await this.#ofClient(clientId)).filter(
      ({ model }) => comesOfGrant.has(model) || model === accessToken,
    )
    await this.#revoke(rest.filter(({ model }) => model === accessToken))
    await this.#remove(rest)
  }

  async #ofClient(clientId: string): Promise<readonly OAuthPayloadTable[]> {
    // Wildcards in the pattern may match too many rows; the exact comparison follows below. A backslash has
    // different meanings in the two engines.
    const pattern = `%${JSON.stringify({ clientId }).slice(1, -1).replaceAll('\\', '_')}%`
    const rows = await this.#store
      .selectFrom('oauth_payload')
      .selectAll()
      .where('payload_json', 'like', pattern)
      .execute()
    return rows.filter((row) => payloadOf(row).clientId === clientId)
  }

  async #revoke(tokens: readonly OAuthPayloadTable[]): Promise<void> {
    for (const row of tokens) {
      const subscriberId = payloadOf(row).accountId ?? ''
      const expiresAt = Math.ceil(Number(row.expires_at) / 1000)
      await this.#revocations.revoke({ id: row.id, subscriberId, expiresAt })
    }
  }

  async #remove(rows: readonly OAuthPayloadTable[]): Promise<void> {
    for (const { model, id } of rows)
      await this.#store.deleteFrom('oauth_payload').where('model', '=', model).where('id', '=', id).execute()
  }

  /** Removes expired payloads. */
  async removeEnded(): Promise<void> {
    await this.#store.deleteFrom('oauth_payload').where('expires_at', '<=', this.#now()).execute()
  }
}

/** Access token, with the grant that it belongs to. */
export interface AccessTokenOfGrant {
  /** The token's `jti`, which alone gives no access. */
  readonly id: string
  readonly grantId: string
  readonly subscriberId: string
  readonly clientId: string
  /** Seconds since 1970. */
  readonly expiresAt: number
}

const accessToken = 'AccessToken'

/**
 * Payloads that end with their grant. A sign-in in progress names a grant too, but continues, possibly for
 * another subscriber.
 */
const comesOfGrant: ReadonlySet<string> = new Set(['AuthorizationCode', 'RefreshToken'])

const keyOf = (model: string, id: string): string =>
  createHash('sha256').update(`${model}\0${id}`).digest('hex')

const payloadOf = ({ payload_json, consumed_at }: OAuthPayloadTable): AdapterPayload => ({
  ...(JSON.parse(payload_json) as AdapterPayload),
  ...(consumed_at !== null && { consumed: Math.floor(Number(consumed_at) / 1000) }),
})
