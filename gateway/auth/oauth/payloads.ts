import { createHash } from 'node:crypto'
import type { AdapterPayload } from 'oidc-provider'
import type { OAuthPayloadTable } from '../../directory/schema.ts'
import type { Store } from '../../directory/sqlite.ts'
import type { Revocations } from '../revocations.ts'

/** What the payloads are kept with. */
export interface OAuthPayloadParts {
  readonly store: Store
  readonly revocations: Pick<Revocations, 'revoke'>
  /** In milliseconds since 1970. */
  readonly now: () => number
}

/**
 * Sessions, grants, codes, refresh tokens and sign-ins under way. Whoever reads the store can use none of them: the id of each, which is what
 * an application shows, is kept as its hash, and is taken out of what is written. What browsers show, sessions and sign-ins under way, is a
 * cookie that is signed besides, by a key that is not in the store.
 */
export class OAuthPayloads {
  readonly #store: Store
  readonly #revocations: OAuthPayloadParts['revocations']
  readonly #now: () => number

  constructor({ store, revocations, now }: OAuthPayloadParts) {
    this.#store = store
    this.#revocations = revocations
    this.#now = now
  }

  /** `seconds`: how long it is kept. What was consumed stays so. */
  async save(model: string, id: string, payload: AdapterPayload, seconds: number): Promise<void> {
    const { jti: _id, ...rest } = payload
    const row = {
      payload_json: JSON.stringify(rest),
      grant_id: comesOfGrant.has(model) ? (payload.grantId ?? null) : null,
      // Of the device flow, which is off.
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

  /** A session by what refers to it; it does not tell the id that the browser has. */
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
   * Marks a code or a refresh token as used. False where it was used already, also where another request did so in the same moment: then
   * its grant is revoked (RFC 9700 sections 2.1.1 and 4.14.2).
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
   * Keeps which grant an access token comes of, so that it ends with it; `expiresAt` in seconds since 1970. False where the grant is revoked:
   * the token must not be given out.
   */
  async addAccessToken(token: AccessTokenOfGrant): Promise<boolean> {
    const { id, grantId, subscriberId, clientId, expiresAt } = token
    const payload_json = JSON.stringify({ accountId: subscriberId, clientId })
    const row = { payload_json, user_code: null, uid: null, consumed_at: null }
    await this.#store
      .insertInto('oauth_payload')
      .values({ model: accessToken, id, grant_id: grantId, expires_at: expiresAt * 1000, ...row })
      .execute()
    // Asked after it was written: who revokes removes the grant first, and then looks for its tokens.
    return (await this.find('Grant', grantId)) !== undefined
  }

  /** Ends a grant with everything that came of it; its access tokens are not good any more when this resolves. */
  async revokeGrant(grantId: string): Promise<void> {
    await this.remove('Grant', grantId)
    const ofGrant = this.#store.selectFrom('oauth_payload').where('grant_id', '=', grantId)
    await this.#revoke(await ofGrant.selectAll().where('model', '=', accessToken).execute())
    await this.#store.deleteFrom('oauth_payload').where('grant_id', '=', grantId).execute()
  }

  /** Ends every grant of a client with everything that came of it; its access tokens are not good any more when this resolves. */
  async revokeClient(clientId: string): Promise<void> {
    // The grants first: who gives out a token asks for its grant after it is written.
    const rows = await this.#ofClient(clientId)
    await this.#remove(rows.filter(({ model }) => model === 'Grant'))
    const rest = (await this.#ofClient(clientId)).filter(
      ({ model }) => comesOfGrant.has(model) || model === accessToken,
    )
    await this.#revoke(rest.filter(({ model }) => model === accessToken))
    await this.#remove(rest)
  }

  async #ofClient(clientId: string): Promise<readonly OAuthPayloadTable[]> {
    // What may stand for anything in a pattern may find too much, which is looked at below; a backslash means different things to the two engines.
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

  /** Removes what has ended by itself. */
  async removeEnded(): Promise<void> {
    await this.#store.deleteFrom('oauth_payload').where('expires_at', '<=', this.#now()).execute()
  }
}

/** An access token, and where it comes from. */
export interface AccessTokenOfGrant {
  /** Its `jti`, which gives nobody access. */
  readonly id: string
  readonly grantId: string
  readonly subscriberId: string
  readonly clientId: string
  /** Seconds since 1970. */
  readonly expiresAt: number
}

const accessToken = 'AccessToken'

/** What ends with its grant. A sign-in under way names one too, and goes on: as somebody else, for one. */
const comesOfGrant: ReadonlySet<string> = new Set(['AuthorizationCode', 'RefreshToken'])

const keyOf = (model: string, id: string): string =>
  createHash('sha256').update(`${model}\0${id}`).digest('hex')

const payloadOf = ({ payload_json, consumed_at }: OAuthPayloadTable): AdapterPayload => ({
  ...(JSON.parse(payload_json) as AdapterPayload),
  ...(consumed_at !== null && { consumed: Math.floor(Number(consumed_at) / 1000) }),
})
