import type { EngineLink } from '../../engine.ts'
import type { EngineTarget } from '../session/engine-socket.ts'
import { type SessionDeps, SessionEngine, type SessionOpening } from '../session/session-link.ts'
import { octetsPerSecondOf } from '../session/wire-audio.ts'
import type { LiveModel } from './live-backend.ts'
import { LiveLink } from './live-link.ts'
import { type LiveOptions, liveUrl } from './live-options.ts'

/** Audio that is sent when the session starts, in ms. The server was seen to stall after longer bursts. */
const keptMs = 2_000

/** Collaborators of a {@link LiveEngine}. */
export interface LiveDeps extends SessionDeps {
  /** Model that does the delegated work, with the functions. Absent: the voice works without functions. */
  readonly model?: LiveModel
}

/**
 * Engine of OpenAI's Live protocol (gpt-live-1).
 *
 * Abilities: `duplex`; the model hears while it speaks, and cannot be stopped. Its audio comes in real time,
 * divided into answers by its silences. A given text, such as a greeting, is spoken in its own words. Prompt
 * and functions can change. Delegated work is done by a model of the gateway, so that functions, steps and
 * contexts are those of the document. Calls belong to answers without sound, beside the answer being spoken.
 */
export class LiveEngine extends SessionEngine {
  readonly kind = 'live'
  readonly #options: LiveOptions
  readonly #model: LiveModel | undefined
  readonly #target: EngineTarget

  constructor(options: LiveOptions, deps: LiveDeps) {
    super(options.name, deps)
    this.#options = options
    this.#model = deps.model
    this.#target = targetOf(options)
  }

  protected link(opening: SessionOpening): EngineLink {
    return new LiveLink(this.#options, this.#target, this.#model, opening)
  }
}

const targetOf = (options: LiveOptions): EngineTarget => {
  const { name, url = liveUrl, key, keyHeader = 'bearer', format = 'pcmu', readyTimeoutMs } = options
  const isBearer = keyHeader === 'bearer'
  return {
    part: name,
    url,
    headers: {
      ...(key !== undefined && (isBearer ? { authorization: `Bearer ${key}` } : { 'api-key': key })),
      ...options.headers,
    },
    secrets: key === undefined ? [] : [key],
    octetsPerSecond: octetsPerSecondOf(format),
    keptMs,
    ...(readyTimeoutMs !== undefined && { readyTimeoutMs }),
  }
}
