import { randomBytes, randomUUID } from 'node:crypto'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import { hashOf } from '../index/api-tokens.ts'
import type { ApiToken, Project, Projects } from '../ports.ts'
import type { WritingDeps } from './writing-deps.ts'

/** Projects and tokens of the store. */
export class StoredProjects implements Projects {
  readonly #parts: WritingDeps

  constructor(parts: WritingDeps) {
    this.#parts = parts
  }

  project(id: string): Project | undefined {
    return this.#parts.memory.tokens.project(id)
  }

  tokenOf(secret: string): ApiToken | undefined {
    const token = this.#parts.memory.tokens.byHash(hashOf(secret))
    return token?.expiresAt !== undefined && token.expiresAt <= this.#parts.clock.now() ? undefined : token
  }

  tokens(projectId: string): readonly ApiToken[] {
    return this.#parts.memory.tokens.ofProject(projectId)
  }

  onChange(listener: () => void): () => void {
    return this.#parts.memory.tokens.onChange(listener)
  }

  addToken(
    projectId: string,
    { name, scopes, expiresAt }: Parameters<Projects['addToken']>[1],
  ): ReturnType<Projects['addToken']> {
    const { store, clock, quotas, limits, changed } = this.#parts
    const made = () => this.tokens(projectId).filter(({ managedByFile }) => !managedByFile).length
    return quotas.within(`${projectId} tokens`, limits.tokens, made, async () => {
      const id = randomUUID()
      const secret = randomBytes(32).toString('base64url')
      await store
        .insertInto('api_token')
        .values({
          id,
          project_id: projectId,
          name,
          hash: hashOf(secret),
          scopes_json: JSON.stringify(scopes),
          managed_by_file: 0,
          created_at: clock.now(),
          expires_at: expiresAt ?? null,
        })
        .execute()
      await changed({ projects: true })
      return { token: this.#find(projectId, id), secret }
    })
  }

  async changeToken(
    projectId: string,
    id: string,
    { name, scopes }: Parameters<Projects['changeToken']>[2],
  ): Promise<ApiToken> {
    const before = this.#ownToChange(projectId, id)
    if (name === undefined && scopes === undefined) return before
    await this.#parts.store
      .updateTable('api_token')
      // Unchanged properties may have changed since they were read.
      .set({
        ...(name !== undefined && { name }),
        ...(scopes && { scopes_json: JSON.stringify(scopes) }),
      })
      .where('id', '=', id)
      .where('managed_by_file', '=', 0)
      .execute()
    await this.#parts.changed({ projects: true })
    return this.#find(projectId, id)
  }

  async removeToken(projectId: string, id: string): Promise<void> {
    this.#ownToChange(projectId, id)
    await this.#parts.store
      .deleteFrom('api_token')
      .where('id', '=', id)
      .where('managed_by_file', '=', 0)
      .execute()
    await this.#parts.changed({ projects: true })
  }

  #find(projectId: string, id: string): ApiToken {
    const token = this.tokens(projectId).find((each) => each.id === id)
    if (!token) throw new TrunklineError('unknown_resource')
    return token
  }

  #ownToChange(projectId: string, id: string): ApiToken {
    const token = this.#find(projectId, id)
    if (token.managedByFile) throw new TrunklineError('managed_by_file')
    return token
  }
}
