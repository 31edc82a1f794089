import { senderOf } from '@trunkline/sip-agent/networks'
import type { Clock, Timer } from '../core/clock.ts'
import { FixedWindowLimiter } from '../core/rates.ts'
import type { ApiToken, Projects } from '../directory/ports.ts'
import type { Scope } from '../directory/scopes.ts'

/** What access to projects is checked against. */
export interface ProjectAccessOptions {
  readonly projects: Pick<Projects, 'tokenOf' | 'tokens' | 'onChange'>
  readonly clock: Pick<Clock, 'now' | 'after'>
}

const limit = { attempts: 30, windowMs: 60_000 }
/** Timers take no more than 24 days. */
const longestWaitMs = 86_400_000

/**
 * Who may act for a project: over HTTP by Basic auth, over WebSockets by the application dialect. One count of wrong tokens for both. A right
 * token is always good: whoever guesses from the same network locks nobody out, and 256 random bits are not guessed.
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

  /** The token that this text is, where it is one of the project; takes the same time whatever differs. */
  tokenOf(project: string, secret: string): ApiToken | undefined {
    const token = this.#projects.tokenOf(secret)
    return token?.projectId === project ? token : undefined
  }

  /** Calls `lost`, once, as soon as a token does not permit this any more: it was removed or changed, or has ended. Returns what ends the watch. */
  watch({ id, projectId }: ApiToken, scope: Scope, lost: () => void): () => void {
    let timer: Timer | undefined
    const check = () => {
      timer?.cancel()
      const token = this.#projects.tokens(projectId).find((each) => each.id === id)
      const left = (token?.expiresAt ?? Number.POSITIVE_INFINITY) - this.#clock.now()
      if (token && permits(token, scope) && left > 0) {
        if (left < Number.POSITIVE_INFINITY) timer = this.#clock.after(Math.min(left, longestWaitMs), check)
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

  /** Counts a wrong token of a network address. Returns 0, or beyond 30 within a minute the milliseconds until that minute is over. */
  failed(address: string): number {
    return this.#failures.take(senderOf(address))
  }
}

/** Whether a token may do this. */
export const permits = ({ scopes }: Pick<ApiToken, 'scopes'>, scope: Scope): boolean => scopes.includes(scope)
