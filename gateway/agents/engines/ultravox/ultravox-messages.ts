import type { AgentFunction } from '../../../../handlers/verbs.ts'
import { isJsonObject } from '../../../core/json.ts'
import type { EngineMessage, EngineRequest } from '../../engine.ts'
import type { WireMessage } from '../session/engine-socket.ts'
import { onlyLanguageOf, voiceNameOf } from '../session/voice-name.ts'
import type { UltravoxOptions } from './ultravox-options.ts'

/** Audio in ms that the server sends ahead of real time. */
const clientBufferSizeMs = 30_000

const toolOf = ({ name, description, parameters }: AgentFunction): WireMessage => {
  const properties = isJsonObject(parameters.properties) ? parameters.properties : {}
  const required = Array.isArray(parameters.required) ? parameters.required : []
  return {
    temporaryTool: {
      modelToolName: name,
      description,
      dynamicParameters: Object.entries(properties).map(([each, schema]) => ({
        name: each,
        location: 'PARAMETER_LOCATION_BODY',
        schema,
        required: required.includes(each),
      })),
      client: {},
    },
  }
}

const messagesOf = (history: readonly EngineMessage[]): readonly WireMessage[] =>
  history.flatMap(({ role, content }) => {
    if (content === '') return []
    if (role === 'assistant') return [{ role: 'MESSAGE_ROLE_AGENT', text: content }]
    return [{ role: 'MESSAGE_ROLE_USER', text: role === 'user' ? content : `(${content})` }]
  })

/** Returns the body of the request for a call. The agent does not greet by itself. */
export const callOf = (options: UltravoxOptions, request: EngineRequest): WireMessage => {
  const { model, rate = 8000, longestMs } = options
  const voice = voiceNameOf(request.languages[0], 'ultravox') ?? options.voice
  const language = onlyLanguageOf(request.languages)
  const messages = messagesOf(request.history)
  return {
    systemPrompt: request.prompt,
    ...(model !== undefined && { model }),
    ...(voice !== undefined && { voice }),
    ...(language !== undefined && { languageHint: language }),
    ...(request.settings.temperature !== undefined && { temperature: request.settings.temperature }),
    ...(longestMs !== undefined && { maxDuration: `${Math.floor(longestMs / 1000)}s` }),
    ...(messages.length > 0 && { initialMessages: messages }),
    firstSpeakerSettings: { user: {} },
    vadSettings: { turnEndpointDelay: `${request.endOfSpeechMs / 1000}s` },
    selectedTools: request.functions.map(toolOf),
    medium: {
      serverWebSocket: { inputSampleRate: rate, outputSampleRate: rate, clientBufferSizeMs },
    },
  }
}
