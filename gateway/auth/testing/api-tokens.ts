/** API tokens for tests that need no store. */
import { FakeClock } from '../../core/clock.ts'
import type { ApiToken, Projects } from '../../directory/model/ports.ts'
import { scopes as allScopes, type Scope } from '../../directory/model/scopes.ts'
import { ProjectAccess } from '../project-access.ts'

/** A token of a test's own. */
export interface TestToken {
  readonly project: string
  readonly secret: string
  /** Default all. */
  readonly scopes?: readonly Scope[]
  readonly expiresAt?: number
}

/** Tokens that can be taken away. */
export class TestTokens implements Pick<Projects, 'tokenOf' | 'tokens' | 'onChange'> {
  readonly #bySecret: Map<string, ApiToken>
  readonly #listeners = new Set<() => void>()

  constructor(tokens: readonly TestToken[]) {
    this.#bySecret = new Map(tokens.map((token, index) => [token.secret, apiToken(token, index)]))
  }

  /** Watches that have not ended. */
  get listeners(): number {
    return this.#listeners.size
  }

  tokenOf(secret: string): ApiToken | undefined {
    return this.#bySecret.get(secret)
  }

  tokens(projectId: string): readonly ApiToken[] {
    return [...this.#bySecret.values()].filter((token) => token.projectId === projectId)
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Takes a token away. */
  remove(secret: string): void {
    this.#bySecret.delete(secret)
    for (const listener of [...this.#listeners]) listener()
  }
}

/** Access with these tokens. */
export const accessWith = (tokens: readonly TestToken[], clock = new FakeClock()): ProjectAccess =>
  new ProjectAccess({ projects: new TestTokens(tokens), clock })

const apiToken = ({ project, scopes = allScopes, expiresAt }: TestToken, index: number): ApiToken => ({
  id: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
  projectId: project,
  name: `token ${index}`,
  scopes,
  managedByFile: true,
  createdAt: 0,
  ...(expiresAt !== undefined && { expiresAt }),
})
