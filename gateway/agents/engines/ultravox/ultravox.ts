import type { EngineLink } from '../../engine.ts'
import type { EngineTarget } from '../session/engine-socket.ts'
import { SessionEngine, type SessionOpening } from '../session/session-link.ts'
import type { HttpSessionDeps } from '../session/session-request.ts'
import { octetsPerSecondOf } from '../session/wire-audio.ts'
import { UltravoxLink } from './ultravox-link.ts'
import { type UltravoxOptions, ultravoxUrl } from './ultravox-options.ts'

/**
 * Engine of Ultravox. A request creates each call; redirects are not followed.
 *
 * Abilities: turns are `its`; the server stops by itself at the caller's voice, whatever the rules say, and
 * learns no position heard. Audio comes in bursts of up to 30 s. A given text is spoken nearly. Nothing can
 * change in a session. `longestMs` is the longest call, also for the server.
 */
export class UltravoxEngine extends SessionEngine {
  readonly kind = 'ultravox'
  readonly #options: UltravoxOptions
  readonly #send: HttpSessionDeps['send']
  readonly #target: EngineTarget

  constructor(options: UltravoxOptions, deps: HttpSessionDeps) {
    super(options.name, deps)
    this.#options = options
    this.#send = deps.send
    const { name, url = ultravoxUrl, key, rate = 8000, readyTimeoutMs } = options
    this.#target = {
      part: name,
      url,
      secrets: key === undefined ? [] : [key],
      octetsPerSecond: octetsPerSecondOf(`pcm${rate}`),
      ...(readyTimeoutMs !== undefined && { readyTimeoutMs }),
    }
  }

  protected link(opening: SessionOpening): EngineLink {
    return new UltravoxLink(this.#options, this.#target, this.#send, opening)
  }
}
