import { randomBytes, randomUUID } from 'node:crypto'
import { hashOf } from '../index/api-tokens.ts'
import type { ApiToken, Project, Projects } from '../model/ports.ts'
import { changeable, countCreated, present, type WritingDeps } from './writing-deps.ts'

/** Projects and tokens of the store. */
export class StoredProjects implements Projects {
  readonly #deps: WritingDeps

  constructor(deps: WritingDeps) {
    this.#deps = deps
  }

  project(id: string): Project | undefined {
    return this.#deps.memory.tokens.project(id)
  }

  tokenOf(secret: string): ApiToken | undefined {
    const token = this.#deps.memory.tokens.byHash(hashOf(secret))
    return token?.expiresAt !== undefined && token.expiresAt <= this.#deps.clock.now() ? undefined : token
  }

  tokens(projectId: string): readonly ApiToken[] {
    return this.#deps.memory.tokens.ofProject(projectId)
  }

  onChange(listener: () => void): () => void {
    return this.#deps.memory.tokens.onChange(listener)
  }

  addToken(
    projectId: string,
    { name, scopes, expiresAt }: Parameters<Projects['addToken']>[1],
  ): ReturnType<Projects['addToken']> {
    const { store, clock, quotas, changed } = this.#deps
    const count = () => countCreated(this.tokens(projectId))
    return quotas.within(projectId, 'tokens', count, async () => {
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
      return { token: present(this.#find(projectId, id)), secret }
    })
  }

  async changeToken(
    projectId: string,
    id: string,
    { name, scopes }: Parameters<Projects['changeToken']>[2],
  ): Promise<ApiToken> {
    const before = changeable(this.#find(projectId, id))
    if (name === undefined && scopes === undefined) return before
    await this.#deps.store
      .updateTable('api_token')
      // Writes only the given properties: others may have changed since they were read.
      .set({
        ...(name !== undefined && { name }),
        ...(scopes && { scopes_json: JSON.stringify(scopes) }),
      })
      .where('id', '=', id)
      .where('managed_by_file', '=', 0)
      .execute()
    await this.#deps.changed({ projects: true })
    return present(this.#find(projectId, id))
  }

  async removeToken(projectId: string, id: string): Promise<void> {
    changeable(this.#find(projectId, id))
    await this.#deps.store
      .deleteFrom('api_token')
      .where('id', '=', id)
      .where('managed_by_file', '=', 0)
      .execute()
    await this.#deps.changed({ projects: true })
  }

  #find(projectId: string, id: string): ApiToken | undefined {
    return this.tokens(projectId).find((each) => each.id === id)
  }
}
