import type { AgentEngineConfig } from '../../../config/types.ts'
import type { Engine } from '../engine.ts'
import { compileRewrites } from '../text/pronounce.ts'
import { DeepgramAgentEngine } from './deepgram/deepgram.ts'
import { ElevenLabsAgentEngine } from './elevenlabs/elevenlabs.ts'
import { GeminiEngine } from './gemini/gemini.ts'
import { LiveEngine } from './live/live.ts'
import { PipelineEngine } from './pipeline/pipeline.ts'
import type { PartsDeps, PipelineParts } from './pipeline-parts.ts'
import { RealtimeEngine } from './realtime/realtime.ts'
import { UltravoxEngine } from './ultravox/ultravox.ts'

/** Longest session of OpenAI's Realtime service, in ms. */
const realtimeLongestMs = 3_600_000

/** Makes the engine of an entry of `agents.engines`. */
export const makeEngine = (
  name: string,
  config: AgentEngineConfig,
  parts: PipelineParts,
  { clock, log, send }: Pick<PartsDeps, 'clock' | 'log' | 'send'>,
): Engine => {
  if (config.kind === 'pipeline')
    return new PipelineEngine({
      name,
      recognisers: config.recognisers.map((each) => parts.recogniser(each)),
      models: config.models.map((each) => parts.model(each)),
      voices: parts.voices(config.voices),
      pronounce: (text, rules) => compileRewrites(rules).rewrite(text),
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
      const [first] = config.models
      return new LiveEngine(
        { ...keyed, ...formatOf(config.format) },
        { clock, ...(first !== undefined && { model: parts.model(first) }) },
      )
    }
    case 'gemini-live':
      return new GeminiEngine(
        { ...common, model: config.model, ...(auth === 'bearer' && { keyPlace: auth }) },
        { clock },
      )
    case 'deepgram-agent': {
      const { provider = 'open_ai', transcriptionModel } = config
      const think = { provider: { type: provider, model: config.model } }
      const listen = transcriptionModel === undefined ? {} : { listen: listenOf(transcriptionModel) }
      const speak = voice === undefined ? {} : { speak: { provider: { type: 'deepgram', model: voice } } }
      const { voice: _, ...rest } = common
      return new DeepgramAgentEngine(
        { ...rest, think, ...listen, ...speak, ...formatOf(config.format) },
        { clock },
      )
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

/** Recogniser of Deepgram; the models named flux have the second version of the interface. */
const listenOf = (model: string) => ({
  type: 'deepgram',
  model,
  ...(model.startsWith('flux') && { version: 'v2' }),
})

const formatOf = (
  format: 'pcmu' | 'pcma' | 'pcm' | undefined,
): { readonly format?: 'pcmu' | 'pcma' | 'pcm24000' } =>
  format === undefined ? {} : { format: format === 'pcm' ? 'pcm24000' : format }
