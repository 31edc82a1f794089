import { senderOf } from '@trunkline/sip-agent/networks'
import type { Clock, Timer } from '../core/clock.ts'
import { FixedWindowLimiter } from '../core/rates.ts'
import type { ApiToken, Projects } from '../directory/model/ports.ts'
import type { Scope } from '../directory/model/scopes.ts'

/** Collaborators of {@link ProjectAccess}. */
export interface ProjectAccessOptions {
  readonly projects: Pick<Projects, 'tokenOf' | 'tokens' | 'onChange'>
  readonly clock: Pick<Clock, 'now' | 'after'>
}

const limit = { attempts: 30, windowMs: 60_000 }
/** Maximum delay of a timer; Node's own limit is 24.8 days. */
const maxWaitMs = 86_400_000

/**
 * Access to projects: over HTTP by Basic authentication, over WebSockets by the application dialect. Both
 * count wrong tokens together. A valid token is always accepted, so that guesses from the same network lock
 * no user out; 256 random bits cannot be guessed.
 */
export class ProjectAccess {
  readonly #projects: ProjectAccessOptions['projects']
  readonly #clock: ProjectAccessOptions['clock']
  readonly #failures: FixedWindowLimiter

  constructor({ projects, clock }: ProjectAccessOptions) {
    this.#projects = projects
    this.#clock = clock
    this.#failures = new FixedWindowLimiter(clock, limit)
  }

  /** Returns the project's token with this secret, if any. The time taken does not depend on the secret. */
  tokenOf(project: string, secret: string): ApiToken | undefined {
    const token = this.#projects.tokenOf(secret)
    return token?.projectId === project ? token : undefined
  }

  /**
   * Calls `lost` once, when a token no longer grants `scope`: after its removal, change or expiry. Returns a
   * function that ends the watch.
   */
  watch({ id, projectId }: ApiToken, scope: Scope, lost: () => void): () => void {
    let timer: Timer | undefined
    const check = () => {
      timer?.cancel()
      const token = this.#projects.tokens(projectId).find((each) => each.id === id)
      const left = (token?.expiresAt ?? Number.POSITIVE_INFINITY) - this.#clock.now()
      if (token && permits(token, scope) && left > 0) {
        if (left < Number.POSITIVE_INFINITY) timer = this.#clock.after(Math.min(left, maxWaitMs), check)
        return
      }
      end()
      lost()
    }
    const unlisten = this.#projects.onChange(check)
    const end = () => {
      timer?.cancel()
      unlisten()
    }
    check()
    return end
  }

  /**
   * Counts a wrong token from a network address. Returns 0 up to 30 in a minute; beyond that, the
   * milliseconds until the minute ends.
   */
  failed(address: string): number {
    return this.#failures.take(senderOf(address))
  }
}

/** Returns whether a token grants a scope. */
export const permits = ({ scopes }: Pick<ApiToken, 'scopes'>, scope: Scope): boolean => scopes.includes(scope)
