import type { EngineLink } from '../../engine.ts'
import type { EngineTarget } from '../session/engine-socket.ts'
import { type SessionDeps, SessionEngine, type SessionOpening } from '../session/session-link.ts'
import { octetsPerSecondOf } from '../session/wire-audio.ts'
import { GeminiLink } from './gemini-link.ts'
import { type GeminiOptions, geminiUrl } from './gemini-options.ts'

/** The server was seen to answer pings after 30 s. */
const lifelessMs = 45_000

/**
 * Engine of Gemini Live (BidiGenerateContent).
 *
 * Abilities: turns are `its`. The server stops by itself at the caller's voice, unless `isInterruptible` is
 * false. It knows only the audio that it sent, so an interruption by the gateway is a note in the
 * conversation. Audio comes in bursts. A given text is spoken nearly. Prompt, functions and history cannot
 * change. A session outlives its connections of some 10 minutes, and lasts unless an option limits it.
 */
export class GeminiEngine extends SessionEngine {
  readonly kind = 'gemini'
  readonly #options: GeminiOptions
  readonly #target: EngineTarget

  constructor(options: GeminiOptions, deps: SessionDeps) {
    super(options.name, deps)
    this.#options = options
    this.#target = targetOf(options)
  }

  protected link(opening: SessionOpening): EngineLink {
    return new GeminiLink(this.#options, this.#target, opening)
  }
}

const targetOf = (options: GeminiOptions): EngineTarget => {
  const { name, url = geminiUrl, key, keyPlace = 'query', headers, readyTimeoutMs } = options
  const isBearer = keyPlace === 'bearer' && key !== undefined
  const target = URL.parse(url)
  if (target && key !== undefined && !isBearer) target.searchParams.set('key', key)
  return {
    part: name,
    url: target?.href ?? url,
    headers: { ...(isBearer && { authorization: `Bearer ${key}` }), ...headers },
    secrets: key === undefined ? [] : [key],
    octetsPerSecond: octetsPerSecondOf('pcm16000'),
    lifelessMs,
    ...(readyTimeoutMs !== undefined && { readyTimeoutMs }),
  }
}
