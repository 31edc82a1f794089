import type { EngineLink } from '../../engine.ts'
import type { VoiceChoices } from '../pipeline/session-voice.ts'
import type { EngineTarget } from '../session/engine-socket.ts'
import { type SessionDeps, SessionEngine, type SessionOpening } from '../session/session-link.ts'
import { octetsPerSecondOf } from '../session/wire-audio.ts'
import { RealtimeLink } from './realtime-link.ts'
import type { RealtimeOptions } from './realtime-options.ts'

/** Collaborators of a {@link RealtimeEngine}. */
export interface RealtimeDeps extends SessionDeps {
  /** Voices that speak the answers, which the server writes. Absent: the server speaks. */
  readonly speech?: VoiceChoices
}

/**
 * Engine of OpenAI's Realtime protocol, also as Azure and compatible servers have it.
 *
 * Abilities: turns are `its`; `semantic_vad` or `server_vad` decides. The server answers by itself, and
 * cancels its own answer at the caller's voice unless `isInterruptible` is false. An interruption is sent
 * as `conversation.item.truncate`, never beyond the audio received. Audio comes in bursts. A given text is
 * spoken nearly, not word for word. Prompt, functions and history can change; the voice cannot.
 *
 * With voices of its own (half-cascade), the server hears and writes. A given text is spoken word for word.
 * After an interruption, the text that was heard replaces the answer.
 */
export class RealtimeEngine extends SessionEngine {
  readonly kind = 'realtime'
  readonly #options: RealtimeOptions
  readonly #speech: VoiceChoices | undefined
  readonly #target: EngineTarget

  constructor(options: RealtimeOptions, deps: RealtimeDeps) {
    super(options.name, deps)
    this.#options = options
    this.#speech = deps.speech
    this.#target = targetOf(options)
  }

  protected link(opening: SessionOpening): EngineLink {
    return new RealtimeLink(this.#options, this.#target, opening, this.#speech)
  }
}

const targetOf = (options: RealtimeOptions): EngineTarget => {
  const { name, url, key, keyHeader = 'bearer', model, dialect, format = 'pcmu' } = options
  const keyed = keyHeader === 'api-key' ? { 'api-key': key } : { authorization: `Bearer ${key}` }
  return {
    part: name,
    url: withModel(url, model),
    headers: {
      ...(key !== undefined && keyed),
      ...(dialect === 'beta' && { 'openai-beta': 'realtime=v1' }),
      ...options.headers,
    } as Record<string, string>,
    secrets: key === undefined ? [] : [key],
    octetsPerSecond: octetsPerSecondOf(format),
    ...(options.readyTimeoutMs !== undefined && { readyTimeoutMs: options.readyTimeoutMs }),
  }
}

const withModel = (url: string, model: string | undefined): string => {
  const target = URL.parse(url)
  // The socket reports an invalid URL, as a failure of the session.
  if (!target || model === undefined || target.searchParams.has('model')) return url
  target.searchParams.set('model', model)
  return target.href
}
