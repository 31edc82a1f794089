import type {
  AgentModelConfig,
  AgentRecogniserConfig,
  AgentsConfig,
  AgentVoiceConfig,
} from '../../../config/types.ts'
import type { SendRequest } from '../../../media/sound/http-voice.ts'
import type { VoiceEngine } from '../../../media/types.ts'
import type { SteadyClock } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import { VoskRecogniser } from '../../speech/vosk.ts'
import { ChatCompletions } from '../models/chat-completions.ts'
import type { Model } from '../models/model.ts'
import { deepgramRecogniser, fluxRecogniser } from '../recognisers/deepgram-recogniser.ts'
import { elevenLabsRecogniser } from '../recognisers/elevenlabs-recogniser.ts'
import { OpenAiFile } from '../recognisers/openai-file.ts'
import { openAiTranscription } from '../recognisers/openai-transcription.ts'
import { PlainRecogniser } from '../recognisers/plain-recogniser.ts'
import type { AgentRecogniser } from '../recognisers/recogniser.ts'
import type { StreamingHttp } from '../streaming/streaming-http.ts'
import { cartesiaVoice } from '../voices/cartesia-voice.ts'
import { deepgramVoice } from '../voices/deepgram-voice.ts'
import { elevenLabsVoice } from '../voices/elevenlabs-voice.ts'
import { OpenAiSpeech } from '../voices/openai-speech.ts'
import type { AgentVoice } from '../voices/voice.ts'
import type { VoiceChoice } from '../voices/voice-line.ts'
import { WholeVoice } from '../voices/whole-voice.ts'

/** Collaborators of engines and their parts. */
export interface PartsDeps {
  /** The gateway's own voices: the built-in one, and those of `media.speech`. */
  readonly voices: VoiceEngine
  readonly http: StreamingHttp
  /** Sends requests whose answers are short: `OperatorHttp.send`. */
  readonly send: SendRequest
  readonly clock: SteadyClock
  readonly log: Log
}

/** Maximum wait for the connection of a vosk-server, in ms. */
const connectTimeoutMs = 5_000

/** Recognisers, models and voices of one configuration; each is made once and shared by the pipelines. */
export class PartStore {
  readonly #config: AgentsConfig
  readonly #deps: PartsDeps
  readonly #recognisers = new Map<string, AgentRecogniser>()
  readonly #models = new Map<string, Model>()
  readonly #voices = new Map<string, AgentVoice>()

  constructor(config: AgentsConfig, deps: PartsDeps) {
    this.#config = config
    this.#deps = deps
  }

  /** Returns the recogniser of a name in `agents.recognisers`. */
  recogniser(name: string): AgentRecogniser {
    const config = this.#config.recognisers[name]!
    return once(this.#recognisers, name, () => makeRecogniser(name, config, this.#deps))
  }

  /** Returns the model of a name in `agents.models`. */
  model(name: string): Model {
    const config = this.#config.models[name]!
    return once(this.#models, name, () => makeModel(name, config, this.#deps))
  }

  /** Returns the voices of a pipeline, then all others that a document may name. */
  voices(names: readonly string[]): readonly VoiceChoice[] {
    const all = new Set([...names, ...Object.keys(this.#config.voices)])
    return [...all].map((name) => {
      const config = this.#config.voices[name] ?? { kind: 'built-in' }
      const patterns = Object.entries(this.#config.names.voices).filter(([, to]) => to === name)
      return {
        voice: once(this.#voices, name, () => makeVoice(name, config, this.#deps)),
        names: [...patterns.map(([pattern]) => pattern), name],
        ...(config.language !== undefined && { languages: [config.language] }),
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

/** Key as a bearer token, or as the header of Azure. */
const keyOf = (
  key: string | undefined,
  auth: 'bearer' | 'api-key' | undefined,
): { readonly key?: string; readonly headers?: Readonly<Record<string, string>> } => {
  if (key === undefined) return {}
  return auth === 'api-key' ? { headers: { 'api-key': key } } : { key }
}

const makeRecogniser = (
  name: string,
  config: AgentRecogniserConfig,
  { http, clock }: PartsDeps,
): AgentRecogniser => {
  const { kind, url, key, auth, model, language } = config
  const options = {
    name,
    url,
    ...keyOf(key, auth),
    ...(model !== undefined && { model }),
    ...(language !== undefined && { language }),
  }
  switch (kind) {
    case 'vosk': {
      const token = key === undefined ? {} : { token: key }
      const vosk = { url, languages: {}, headers: {}, hints: false, connectTimeoutMs, clock, ...token }
      return new PlainRecogniser(name, new VoskRecogniser(vosk))
    }
    case 'deepgram':
      return deepgramRecogniser(options, clock)
    case 'deepgram-flux':
      return fluxRecogniser(options, clock)
    case 'openai-realtime':
      return openAiTranscription(options, clock)
    case 'openai-file':
      return new OpenAiFile({ ...options, model: model ?? '' }, http, clock)
    case 'elevenlabs':
      return elevenLabsRecogniser(options, clock)
  }
}

const makeModel = (name: string, config: AgentModelConfig, { http, clock }: PartsDeps): Model => {
  const { url, key, auth, model, temperature, laterRole, timeoutMs } = config
  const options = {
    name,
    url,
    model,
    ...keyOf(key, auth),
    ...(temperature !== undefined && { temperature }),
    ...(laterRole && { laterRole }),
    firstTokenMs: timeoutMs,
  }
  return new ChatCompletions(options, http, clock)
}

const makeVoice = (name: string, config: AgentVoiceConfig, deps: PartsDeps): AgentVoice => {
  const { http, clock, voices } = deps
  if (config.kind === 'built-in' || config.kind === 'media') return new WholeVoice(name, voices, config.voice)
  const { url, key, auth, model, voice } = config
  const options = {
    name,
    url,
    ...keyOf(key, auth),
    ...(model !== undefined && { model }),
    ...(voice !== undefined && { voice }),
  }
  switch (config.kind) {
    case 'openai':
      return new OpenAiSpeech({ ...options, model: config.model, voice: config.voice }, http, clock)
    case 'elevenlabs':
      return elevenLabsVoice(options, clock)
    case 'deepgram':
      return deepgramVoice(options, clock)
    case 'cartesia':
      return cartesiaVoice(options, clock)
  }
}
