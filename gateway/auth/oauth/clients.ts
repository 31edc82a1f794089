import { createHash, randomBytes, randomUUID } from 'node:crypto'
import type { OAuthClientConfig } from '../../../config/types.ts'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import type { Listed, ListPage } from '../../directory/model/resource-types.ts'
import type { OAuthClientTable } from '../../directory/store/schema.ts'
import type { Store, Write } from '../../directory/store/sqlite.ts'
import type { OAuthPayloads } from './payloads.ts'

/**
 * Scopes that a client may request. `openid` is the default. The others reveal more claims or, as
 * `offline_access`, outlive the sign-out.
 */
export const oauthScopes = ['openid', 'profile', 'email', 'offline_access'] as const

/** Application that the subscribers of a project sign in to. Times in milliseconds since 1970. */
export interface OAuthClient {
  /** The `client_id`. */
  readonly id: string
  readonly projectId: string
  readonly name: string
  /** Redirect URIs, compared literally. */
  readonly redirectUris: readonly string[]
  /** Whether the application is installed on a device (RFC 8252). */
  readonly native: boolean
  /** SHA-256 of its secret, hex; absent for a public client. */
  readonly secretHash?: string
  readonly scopes: readonly string[]
  readonly managedByFile: boolean
  readonly createdAt: number
  readonly updatedAt: number
}

/** Properties of a client that its creator sets. */
export type OAuthClientTerms = Pick<OAuthClient, 'name' | 'redirectUris' | 'native'>

/** OAuth clients in the store, queried each time. */
export class OAuthClients {
  readonly #store: Store
  readonly #now: () => number
  readonly #grants: Pick<OAuthPayloads, 'revokeClient'>

  /**
   * `now` returns milliseconds since 1970. `grants`: the subscribers' grants, which end with their client.
   */
  constructor(store: Store, now: () => number, grants: Pick<OAuthPayloads, 'revokeClient'>) {
    this.#store = store
    this.#now = now
    this.#grants = grants
  }

  /** Finds a client of any project. */
  async find(id: string): Promise<OAuthClient | undefined> {
    const row = await this.#store
      .selectFrom('oauth_client')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst()
    return row && clientOf(row)
  }

  /**
   * Returns a client of a project. Rejects with `unknown_resource` for an unknown one, and for one of another
   * project.
   */
  async get(projectId: string, id: string): Promise<OAuthClient> {
    const client = await this.find(id)
    if (client?.projectId !== projectId) throw new TrunklineError('unknown_resource')
    return client
  }

  /** Lists the clients of a project, the newest last. */
  async list(projectId: string, { number, size }: ListPage): Promise<Listed<OAuthClient>> {
    const all = this.#store.selectFrom('oauth_client').where('project_id', '=', projectId)
    const rows = await all
      .selectAll()
      .orderBy('created_at')
      .orderBy('id')
      .offset(number * size)
      .limit(size)
      .execute()
    const counted = await all.select((q) => q.fn.countAll<number>().as('count')).executeTakeFirst()
    return { items: rows.map(clientOf), total: Number(counted?.count ?? 0) }
  }

  /** Creates a client. A `confidential` client gets a secret, which is returned here and never again. */
  async create(
    projectId: string,
    terms: OAuthClientTerms,
    confidential: boolean,
  ): Promise<{ readonly client: OAuthClient; readonly secret?: string }> {
    const secret = confidential ? newSecret() : undefined
    const row = rowOf(projectId, { ...terms, id: randomUUID() }, this.#now())
    await this.#store
      .insertInto('oauth_client')
      .values({ ...row, secret_hash: secret ? hashOf(secret) : null })
      .execute()
    return { client: await this.get(projectId, row.id), ...(secret && { secret }) }
  }

  /** Updates a client. Rejects with `unknown_resource`, `managed_by_file`. */
  async update(projectId: string, id: string, change: Partial<OAuthClientTerms>): Promise<OAuthClient> {
    await this.#ownOf(projectId, id)
    const { name, redirectUris, native } = change
    await this.#store
      .updateTable('oauth_client')
      .set({
        ...(name !== undefined && { name }),
        ...(redirectUris && { redirect_uris_json: JSON.stringify(redirectUris) }),
        ...(native !== undefined && { native: Number(native) }),
        updated_at: this.#now(),
      })
      .where('id', '=', id)
      .execute()
    return this.get(projectId, id)
  }

  /**
   * Replaces the secret. Returns the new secret, which cannot be read again later. Rejects like
   * {@link update}, and with `invalid_field` for a public client.
   */
  async renewSecret(projectId: string, id: string): Promise<string> {
    const { secretHash } = await this.#ownOf(projectId, id)
    if (secretHash === undefined)
      throw new TrunklineError('invalid_field', 'The client is public, and has no secret.')
    const secret = newSecret()
    const change = { secret_hash: hashOf(secret), updated_at: this.#now() }
    await this.#store.updateTable('oauth_client').set(change).where('id', '=', id).execute()
    return secret
  }

  /**
   * Removes a client; its tokens are invalid when this resolves. Rejects with `unknown_resource`,
   * `managed_by_file`.
   */
  async remove(projectId: string, id: string): Promise<void> {
    await this.#ownOf(projectId, id)
    // Revoked before the removal, so that the client remains if this fails, and again after it, for tokens
    // issued meanwhile.
    await this.#grants.revokeClient(id)
    await this.#store.deleteFrom('oauth_client').where('id', '=', id).execute()
    await this.#grants.revokeClient(id)
  }

  /**
   * Applies the clients of the configuration file, and revokes the tokens of removed clients. Throws if an id
   * in the file belongs to a client that the API created.
   */
  async provision(declared: readonly OAuthClientConfig[], firstProject: string): Promise<void> {
    await this.revokeGrants(await this.#gone(this.#store, declared))
    await this.#store.transaction().execute((write) => this.declare(write, declared, firstProject))
  }

  /**
   * Like {@link provision}, in a transaction. Returns the ids of removed clients, whose grants must be
   * revoked afterwards.
   */
  async declare(
    write: Write,
    declared: readonly OAuthClientConfig[],
    firstProject: string,
  ): Promise<readonly string[]> {
    const now = this.#now()
    const gone = await this.#gone(write, declared)
    for (const id of gone) await write.deleteFrom('oauth_client').where('id', '=', id).execute()
    for (const client of declared) {
      const row = { ...rowOf(client.project ?? firstProject, client, now), managed_by_file: 1 }
      const { id: _id, created_at: _createdAt, ...rest } = row
      const result = await write
        .insertInto('oauth_client')
        .values(row)
        .onConflict((c) => c.column('id').doUpdateSet(rest).where('oauth_client.managed_by_file', '=', 1))
        .executeTakeFirst()
      if (result.numInsertedOrUpdatedRows === 0n)
        throw new Error(`oauth.clients: ${client.id} is the id of a client that was made by the API.`)
    }
    return gone
  }

  /** Revokes the grants of these clients. */
  async revokeGrants(ids: readonly string[]): Promise<void> {
    for (const id of ids) await this.#grants.revokeClient(id)
  }

  /** Returns the ids of declared clients that the file no longer has. */
  async #gone(store: Store, declared: readonly OAuthClientConfig[]): Promise<readonly string[]> {
    const ids = new Set(declared.map(({ id }) => id))
    const known = store.selectFrom('oauth_client').select('id').where('managed_by_file', '=', 1)
    return (await known.execute()).map(({ id }) => id).filter((id) => !ids.has(id))
  }

  /** Returns a client that the API created. Rejects for a client of the configuration file. */
  async #ownOf(projectId: string, id: string): Promise<OAuthClient> {
    const client = await this.get(projectId, id)
    if (client.managedByFile) throw new TrunklineError('managed_by_file')
    return client
  }
}

/** Returns the stored form of a client's secret. The secret is random, so one round suffices. */
export const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('hex')

const newSecret = (): string => randomBytes(32).toString('base64url')

const rowOf = (
  projectId: string,
  { id, name, redirectUris, native }: OAuthClientTerms & { readonly id: string },
  now: number,
): OAuthClientTable => ({
  id,
  project_id: projectId,
  name,
  redirect_uris_json: JSON.stringify(redirectUris),
  native: Number(native),
  secret_hash: null,
  scopes_json: JSON.stringify(oauthScopes),
  managed_by_file: 0,
  created_at: now,
  updated_at: now,
})

const clientOf = (row: OAuthClientTable): OAuthClient => ({
  id: row.id,
  projectId: row.project_id,
  name: row.name,
  redirectUris: JSON.parse(row.redirect_uris_json) as string[],
  native: row.native === 1,
  ...(row.secret_hash !== null && { secretHash: row.secret_hash }),
  scopes: JSON.parse(row.scopes_json) as string[],
  managedByFile: row.managed_by_file === 1,
  createdAt: Number(row.created_at),
  updatedAt: Number(row.updated_at),
})
