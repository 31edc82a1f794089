import type { AgentEngineConfig } from '../../../config/types.ts'
import type { AgentRewrite } from '../../../handlers/verbs.ts'
import type { Engine } from '../engine.ts'
import { ModelLine } from '../models/model-line.ts'
import { compileRewrites, type Rewriter } from '../text/pronounce.ts'
import { DeepgramAgentEngine } from './deepgram/deepgram.ts'
import { ElevenLabsAgentEngine } from './elevenlabs/elevenlabs.ts'
import { GeminiEngine } from './gemini/gemini.ts'
import { LiveEngine } from './live/live.ts'
import type { PartStore, PartsDeps } from './part-store.ts'
import { PipelineEngine } from './pipeline/pipeline.ts'
import { RealtimeEngine } from './realtime/realtime.ts'
import { UltravoxEngine } from './ultravox/ultravox.ts'

/** Longest session of OpenAI's Realtime service, in ms. */
const realtimeLongestMs = 3_600_000

/** Makes the engine of an entry of `agents.engines`. */
export const makeEngine = (
  name: string,
  config: AgentEngineConfig,
  parts: PartStore,
  { clock, log, send }: Pick<PartsDeps, 'clock' | 'log' | 'send'>,
): Engine => {
  if (config.kind === 'pipeline')
    return new PipelineEngine({
      name,
      recognisers: config.recognisers.map((each) => parts.recogniser(each)),
      models: config.models.map((each) => parts.model(each)),
      voices: parts.voices(config.voices),
      pronounce: compiledOnce(),
      clock,
      log,
    })
  const { url, key, auth, model, voice, longestSessionMs: longestMs } = config
  const common = {
    name,
    url,
    ...(key !== undefined && { key }),
    ...(voice !== undefined && { voice }),
    ...(longestMs !== undefined && { longestMs }),
  }
  const keyed = { ...common, ...(model !== undefined && { model }), ...(auth && { keyHeader: auth }) }
  switch (config.kind) {
    case 'openai-realtime': {
      const { dialect, transcriptionModel, eagerness, effort } = config
      const options = {
        longestMs: realtimeLongestMs,
        ...keyed,
        ...(dialect && { dialect }),
        ...(transcriptionModel !== undefined && { transcriptionModel }),
        ...(eagerness && { eagerness }),
        ...(effort !== undefined && { reasoningEffort: effort }),
        ...formatOf(config.format),
      }
      return new RealtimeEngine(options, { clock })
    }
    case 'openai-live': {
      return new LiveEngine(
        { ...keyed, ...formatOf(config.format) },
        {
          clock,
          model: new ModelLine(
            config.models.map((each) => parts.model(each)),
            clock,
          ),
        },
      )
    }
    case 'gemini-live':
      return new GeminiEngine(
        { ...common, model: config.model, ...(auth === 'bearer' && { keyPlace: auth }) },
        { clock },
      )
    case 'deepgram-agent': {
      const { provider: type = 'open_ai', transcriptionModel } = config
      const think = { provider: { type, model: config.model } }
      const listen = transcriptionModel === undefined ? {} : { listen: deepgramListenOf(transcriptionModel) }
      const speak = voice === undefined ? {} : { speak: { type: 'deepgram', model: voice } }
      const { voice: _, ...rest } = common
      const options = { ...rest, think, ...listen, ...speak, ...formatOf(config.format) }
      return new DeepgramAgentEngine(options, { clock })
    }
    case 'elevenlabs-agent':
      return new ElevenLabsAgentEngine(
        { ...common, agent: config.agentId, ...(config.format === 'pcm' && { format: 'pcm16000' }) },
        { clock, send },
      )
    case 'ultravox':
      return new UltravoxEngine({ ...common, ...(model !== undefined && { model }) }, { clock, send })
  }
}

/** Rewriting for the voice that compiles the rules of a document once. */
const compiledOnce = (): ((text: string, rules: readonly AgentRewrite[]) => string) => {
  const compiled = new WeakMap<readonly AgentRewrite[], Rewriter>()
  return (text, rules) => {
    const rewrite = compiled.get(rules) ?? compileRewrites(rules).rewrite
    compiled.set(rules, rewrite)
    return rewrite(text)
  }
}

/** Recogniser of Deepgram's agent: Flux is of the second version of its interface. */
const deepgramListenOf = (model: string): Readonly<Record<string, unknown>> => ({
  type: 'deepgram',
  model,
  ...(model.startsWith('flux') && { version: 'v2' }),
})

const formatOf = (
  format: 'pcmu' | 'pcma' | 'pcm' | undefined,
): { readonly format?: 'pcmu' | 'pcma' | 'pcm24000' } =>
  format === undefined ? {} : { format: format === 'pcm' ? 'pcm24000' : format }
