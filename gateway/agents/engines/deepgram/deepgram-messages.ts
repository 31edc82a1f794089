import type { AgentFunction, AgentModelSettings } from '../../../../handlers/verbs.ts'
import { isJsonObject } from '../../../core/json.ts'
import type { EngineMessage, EngineRequest } from '../../engine.ts'
import type { WireMessage } from '../session/engine-socket.ts'
import { onlyLanguageOf, voiceNameOf } from '../session/voice-name.ts'
import { type WireFormat, wireRateOf } from '../session/wire-audio.ts'
import type { DeepgramAgentOptions } from './deepgram-options.ts'

/** Model with the prompt and the functions of a conversation. */
export type ThinkRequest = Pick<EngineRequest, 'prompt' | 'functions' | 'settings'>

const encodingOf = (format: WireFormat): WireMessage => {
  const encoding = format === 'pcmu' ? 'mulaw' : format === 'pcma' ? 'alaw' : 'linear16'
  return { encoding, sample_rate: wireRateOf(format) }
}

const functionsOf = (functions: readonly AgentFunction[]): readonly WireMessage[] =>
  functions.map(({ name, description, parameters }) => ({ name, description, parameters }))

const temperatureOf = ({ temperature }: AgentModelSettings): WireMessage =>
  temperature === undefined ? {} : { temperature }

/** Returns `think`: the operator's model, with prompt and functions. */
export const thinkOf = ({ think }: DeepgramAgentOptions, request: ThinkRequest): WireMessage => {
  const provider = isJsonObject(think.provider) ? think.provider : {}
  return {
    ...think,
    provider: { ...provider, ...temperatureOf(request.settings) },
    ...(request.prompt !== '' && { prompt: request.prompt }),
    ...(request.functions.length > 0 && { functions: functionsOf(request.functions) }),
  }
}

/** Returns messages as `History`; a call and its result are one entry. */
export const historyOf = (history: readonly EngineMessage[]): readonly WireMessage[] => {
  const results = new Map(
    history.flatMap((each) => (each.role === 'tool' ? [[each.callId, each.content] as const] : [])),
  )
  return history.flatMap((message): readonly WireMessage[] => {
    if (message.role === 'tool') return []
    const calls = (message.calls ?? []).map(({ id, name, args }) => ({
      id,
      name,
      client_side: true,
      arguments: args,
      response: results.get(id) ?? '',
    }))
    const role = message.role === 'assistant' ? 'assistant' : 'user'
    return [
      ...(message.content === '' ? [] : [{ type: 'History', role, content: message.content }]),
      ...(calls.length === 0 ? [] : [{ type: 'History', function_calls: calls }]),
    ]
  })
}

/** Returns the first message. */
export const settingsOf = (options: DeepgramAgentOptions, request: EngineRequest): WireMessage => {
  const { format = 'pcmu', listen = { type: 'deepgram', model: 'flux-general-en', version: 'v2' } } = options
  const voice = voiceNameOf(request.languages[0], 'deepgram')
  const speak = voice === undefined ? options.speak : { type: 'deepgram', model: voice }
  const language = onlyLanguageOf(request.languages)
  const messages = historyOf(request.history)
  return {
    type: 'Settings',
    audio: { input: encodingOf(format), output: { ...encodingOf(format), container: 'none' } },
    agent: {
      ...(language !== undefined && { language }),
      ...(messages.length > 0 && { context: { messages } }),
      listen: { provider: listen },
      think: thinkOf(options, request),
      ...(speak && { speak: { provider: speak } }),
    },
  }
}
