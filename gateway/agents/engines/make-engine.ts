import type { AgentEngineConfig } from '../../../config/types.ts'
import type { AgentRewrite } from '../../../handlers/verbs.ts'
import type { Engine } from '../engine.ts'
import { ModelLine } from '../models/model-line.ts'
import { silentModel } from '../models/silent-model.ts'
import { compileRewrites, type Rewriter } from '../text/pronounce.ts'
import { DeepgramAgentEngine } from './deepgram/deepgram.ts'
import { ElevenLabsAgentEngine } from './elevenlabs/elevenlabs.ts'
import { GeminiEngine } from './gemini/gemini.ts'
import { LiveEngine } from './live/live.ts'
import type { PartStore, PartsDeps } from './part-store.ts'
import { PipelineEngine } from './pipeline/pipeline.ts'
import { RealtimeEngine } from './realtime/realtime.ts'
import type { RealtimeOptions } from './realtime/realtime-options.ts'
import { UltravoxEngine } from './ultravox/ultravox.ts'

/** Longest session of OpenAI's Realtime service, in ms. */
const realtimeLongestMs = 3_600_000

/**
 * Makes the engine of an entry of `agents.engines`. A pipeline without models is for a handler that answers.
 */
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
      models: config.models.length > 0 ? config.models.map((each) => parts.model(each)) : [silentModel],
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
      const { dialect, transcriptionModel, eagerness, effort, output } = config
      const options = {
        longestMs: realtimeLongestMs,
        ...keyed,
        ...(dialect && { dialect }),
        ...(transcriptionModel !== undefined && { transcriptionModel }),
        ...(eagerness && { eagerness }),
        ...(effort !== undefined && { reasoningEffort: effort }),
        ...serverOf(config),
        ...formatOf(config.format),
      }
      const speech = { voices: parts.voices(config.voices ?? []), pronounce: compiledOnce(), log }
      return new RealtimeEngine(options, { clock, ...(output === 'text' && { speech }) })
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
    case 'gemini-live': {
      const { notes } = config
      const options = { ...common, model: config.model, ...(notes !== undefined && { notes }) }
      return new GeminiEngine({ ...options, ...(auth === 'bearer' && { keyPlace: auth }) }, { clock })
    }
    case 'deepgram-agent': {
      const { provider: type = 'open_ai', transcriptionModel } = config
      const think = { provider: { type, model: config.model } }
      const listen = transcriptionModel === undefined ? {} : { listen: deepgramListenOf(transcriptionModel) }
      const speak = voice === undefined ? {} : { speak: { type: 'deepgram', model: voice } }
      const { voice: _, ...rest } = common
      const options = { ...rest, think, ...listen, ...speak, ...formatOf(config.format) }
      return new DeepgramAgentEngine(options, { clock })
    }
    case 'elevenlabs-agent': {
      const { agentId: agent, signingUrl, overrides: hasOverrides, format } = config
      const options = {
        ...common,
        agent,
        ...(signingUrl !== undefined && { signingUrl }),
        ...(hasOverrides !== undefined && { hasOverrides }),
        ...(format === 'pcm' && { format: 'pcm16000' as const }),
      }
      return new ElevenLabsAgentEngine(options, { clock, send })
    }
    case 'ultravox':
      return new UltravoxEngine({ ...common, ...(model !== undefined && { model }) }, { clock, send })
  }
}

/** Keys of `openai-realtime` about its server. */
interface ServerAbilities {
  readonly semanticTurns?: boolean
  readonly serverInterrupts?: boolean
  readonly truncation?: boolean
}

/** Abilities of a server of the Realtime protocol, where the configuration names them. */
const serverOf = ({
  semanticTurns: hasSemanticTurns,
  serverInterrupts: isServerInterrupting,
  truncation: canTruncate,
}: ServerAbilities): Partial<RealtimeOptions> => ({
  ...(hasSemanticTurns !== undefined && { hasSemanticTurns }),
  ...(isServerInterrupting !== undefined && { isServerInterrupting }),
  ...(canTruncate !== undefined && { canTruncate }),
})

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
