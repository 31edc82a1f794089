import { createHash, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../clock.ts'
import { Attempts, networkKey } from '../http/attempts.ts'

/** What access to a project is checked against. */
export interface ProjectAccessOptions {
  readonly project: string
  /** Its API token; undefined: nobody has access. A secret. */
  readonly token: string | undefined
  readonly clock: Pick<Clock, 'now'>
}

const limit = { attempts: 30, windowMs: 60_000 }

/** Who may act for the project: over HTTP by Basic auth, over WebSockets by the application dialect. One count of wrong tokens for both. */
export class ProjectAccess {
  readonly #project: string
  readonly #token: string | undefined
  readonly #failures: Attempts

  constructor({ project, token, clock }: ProjectAccessOptions) {
    this.#project = project
    this.#token = token
    this.#failures = new Attempts(clock, limit)
  }

  /** Whether this is the project and its token; takes the same time whatever differs. */
  admits(project: string, token: string): boolean {
    // What nobody configured is not to be guessed either.
    return this.#token !== undefined && alike(`${project}:${token}`, `${this.#project}:${this.#token}`)
  }

  /** Counts a wrong token of a network address. Returns 0, or beyond 30 within a minute the milliseconds until that minute is over. */
  failed(address: string): number {
    return this.#failures.take(networkKey(address))
  }
}

/** In the same time whatever differs, the length too. */
const alike = (a: string, b: string): boolean => {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(a), digest(b))
}
