import type { AgentModelConfig, AgentRecogniserConfig, AgentsConfig, AgentVoiceConfig } from '../../../config/types.ts'
import type { VoiceEngine } from '../../../media/types.ts'
import type { SteadyClock } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import { VoskRecogniser } from '../../speech/vosk.ts'
import type { StreamingHttp } from '../http/streaming-http.ts'
import { ChatCompletions } from '../models/chat-completions.ts'
import type { Model } from '../models/model.ts'
import { PlainRecogniser } from '../recognisers/plain-recogniser.ts'
import type { AgentRecogniser } from '../recognisers/recogniser.ts'
import { OpenAiSpeech } from '../voices/openai-speech.ts'
import type { AgentVoice } from '../voices/voice.ts'
import type { VoiceChoice } from '../voices/voice-line.ts'
import { WholeVoice } from '../voices/whole-voice.ts'

/** Collaborators of engines and their parts. */
export interface PartsDeps {
  /** The gateway's own voices: those of `media.speech`. */
  readonly voices: VoiceEngine
  readonly http: StreamingHttp
  readonly clock: SteadyClock
  readonly log: Log
}

/** Maximum wait for the connection of a recogniser, in ms. */
const connectTimeoutMs = 5_000

/** Recognisers, models and voices of one configuration; each is made once and shared by the pipelines. */
export class PipelineParts {
  readonly #config: AgentsConfig
  readonly #deps: PartsDeps
  readonly #recognisers = new Map<string, AgentRecogniser>()
  readonly #models = new Map<string, Model>()
  readonly #voices = new Map<string, AgentVoice>()

  constructor(config: AgentsConfig, deps: PartsDeps) {
    this.#config = config
    this.#deps = deps
  }

  recogniser(name: string): AgentRecogniser {
    return once(this.#recognisers, name, () => this.#makeRecogniser(name, this.#config.recognisers[name]!))
  }

  model(name: string): Model {
    return once(this.#models, name, () => this.#makeModel(name, this.#config.models[name]!))
  }

  /** Returns the voices of a pipeline, then all others that a document may name. */
  voices(names: readonly string[]): readonly VoiceChoice[] {
    const all = new Set([...names, ...Object.keys(this.#config.voices)])
    return [...all].map((name) => {
      const config = this.#config.voices[name]
      const patterns = Object.entries(this.#config.names.voices).filter(([, to]) => to === name)
      const language = config?.language
      return {
        voice: once(this.#voices, name, () => this.#makeVoice(name, config ?? { kind: 'built-in' })),
        names: [...patterns.map(([pattern]) => pattern), name],
        ...(language !== undefined && { languages: [language] }),
      }
    })
  }

  async close(): Promise<void> {
    const parts = [...this.#recognisers.values(), ...this.#models.values(), ...this.#voices.values()]
    await Promise.all(parts.map((part) => part.close()))
  }
}

const once = <T>(made: Map<string, T>, name: string, make: () => T): T => {
  const part = made.get(name) ?? make()
  made.set(name, part)
  return part
}
