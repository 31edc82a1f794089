import { createHash } from 'node:crypto'
import type { ApiToken, Project } from '../model/ports.ts'

/** Token with the SHA-256 of its secret, hex. */
export interface StoredToken {
  readonly token: ApiToken
  readonly hash: string
}

/**
 * Returns the hash that identifies a token. Its secret has 256 random bits, or is the operator's own:
 * stretching is not needed.
 */
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

  /** Returns the names of all projects, which are part of the domains of domain applications. */
  names(): string[] {
    return [...this.#projects.values()].map(({ name }) => name)
  }

  /** Looks a token up by its hash, so that the time taken reveals nothing about existing secrets. */
  byHash(hash: string): ApiToken | undefined {
    return this.#byHash.get(hash)
  }

  /** Returns the tokens of a project, in the order of creation. */
  ofProject(projectId: string): ApiToken[] {
    return [...this.#byHash.values()].filter((token) => token.projectId === projectId)
  }
}
