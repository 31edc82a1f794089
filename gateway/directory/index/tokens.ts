import { createHash } from 'node:crypto'
import type { ApiToken, Project } from '../ports.ts'

/** A token with the SHA-256 of its secret, hex. */
export interface StoredToken {
  readonly token: ApiToken
  readonly hash: string
}

/** The hash by which a token is known. Its secret has 256 random bits, or is the operator's own: there is nothing to stretch. */
export const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('hex')

/** Projects and their tokens. */
export class Tokens {
  #projects = new Map<string, Project>()
  #byHash = new Map<string, ApiToken>()
  readonly #listeners = new Set<() => void>()

  replace({
    projects,
    tokens,
  }: {
    readonly projects: readonly Project[]
    readonly tokens: readonly StoredToken[]
  }): void {
    this.#projects = new Map(projects.map((project) => [project.id, project]))
    this.#byHash = new Map(tokens.map(({ hash, token }) => [hash, token]))
    for (const listener of [...this.#listeners]) listener()
  }

  /** See `Projects`. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  project(id: string): Project | undefined {
    return this.#projects.get(id)
  }

  /** Names of all projects, as they stand in domains of domain applications. */
  names(): string[] {
    return [...this.#projects.values()].map(({ name }) => name)
  }

  /** Looked up by its hash: how long that takes says nothing of the secrets that there are. */
  byHash(hash: string): ApiToken | undefined {
    return this.#byHash.get(hash)
  }

  /** In the order in which they were made. */
  ofProject(projectId: string): ApiToken[] {
    return [...this.#byHash.values()].filter((token) => token.projectId === projectId)
  }
}
