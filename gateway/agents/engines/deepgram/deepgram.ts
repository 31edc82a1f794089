import type { EngineLink } from '../../engine.ts'
import type { EngineTarget } from '../session/engine-socket.ts'
import { type SessionDeps, SessionEngine, type SessionOpening } from '../session/session-link.ts'
import { octetsPerSecondOf } from '../session/wire-audio.ts'
import { DeepgramAgentLink } from './deepgram-link.ts'
import { type DeepgramAgentOptions, deepgramAgentUrl } from './deepgram-options.ts'

/**
 * Engine of Deepgram's Voice Agent: recogniser, language model and voice behind one WebSocket.
 *
 * Abilities: turns are `its`; the server stops by itself at the caller's voice, whatever the rules say, and
 * learns no position heard. Audio comes in bursts. A given text is spoken word for word. Prompt and functions
 * can change; history and voice cannot. The server answers every result of a function.
 */
export class DeepgramAgentEngine extends SessionEngine {
  readonly kind = 'deepgram'
  readonly #options: DeepgramAgentOptions
  readonly #target: EngineTarget

  constructor(options: DeepgramAgentOptions, deps: SessionDeps) {
    super(options.name, deps)
    this.#options = options
    const { name, url = deepgramAgentUrl, key, headers, format = 'pcmu', readyTimeoutMs } = options
    this.#target = {
      part: name,
      url,
      headers: { ...(key !== undefined && { authorization: `Token ${key}` }), ...headers },
      secrets: key === undefined ? [] : [key],
      octetsPerSecond: octetsPerSecondOf(format),
      ...(readyTimeoutMs !== undefined && { readyTimeoutMs }),
    }
  }

  protected link(opening: SessionOpening): EngineLink {
    return new DeepgramAgentLink(this.#options, this.#target, opening)
  }
}
