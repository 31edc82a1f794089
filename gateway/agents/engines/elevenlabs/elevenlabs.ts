import type { EngineLink } from '../../engine.ts'
import type { EngineTarget } from '../session/engine-socket.ts'
import { SessionEngine, type SessionOpening } from '../session/session-link.ts'
import type { HttpSessionDeps } from '../session/session-request.ts'
import { octetsPerSecondOf } from '../session/wire-audio.ts'
import { ElevenLabsAgentLink } from './elevenlabs-link.ts'
import { type ElevenLabsAgentOptions, elevenLabsAgentUrl } from './elevenlabs-options.ts'

/**
 * Engine of ElevenLabs Agents. The agent is configured at the service: functions have the names of its client
 * tools, and prompt and voice are overrides that it must permit.
 *
 * Abilities: turns are `its`; the server stops by itself at the caller's voice, whatever the rules say, and
 * learns no position heard. Audio comes in bursts; an answer is complete after a second without audio. A
 * given text is spoken nearly. Nothing can change in a session. The server answers each result of a function.
 */
export class ElevenLabsAgentEngine extends SessionEngine {
  readonly kind = 'elevenlabs'
  readonly #options: ElevenLabsAgentOptions
  readonly #send: HttpSessionDeps['send']
  readonly #target: EngineTarget

  constructor(options: ElevenLabsAgentOptions, deps: HttpSessionDeps) {
    super(options.name, deps)
    this.#options = options
    this.#send = deps.send
    this.#target = targetOf(options)
  }

  protected link(opening: SessionOpening): EngineLink {
    return new ElevenLabsAgentLink(this.#options, this.#target, this.#send, opening)
  }
}

const targetOf = (options: ElevenLabsAgentOptions): EngineTarget => {
  const { name, url = elevenLabsAgentUrl, key, agent, signingUrl, format = 'pcmu', readyTimeoutMs } = options
  const target = URL.parse(url)
  target?.searchParams.set('agent_id', agent)
  return {
    part: name,
    url: target?.href ?? url,
    headers: {
      ...(key !== undefined && signingUrl === undefined && { 'xi-api-key': key }),
      ...options.headers,
    },
    secrets: key === undefined ? [] : [key],
    octetsPerSecond: octetsPerSecondOf(format),
    ...(readyTimeoutMs !== undefined && { readyTimeoutMs }),
  }
}
