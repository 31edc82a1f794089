import type { AgentFunction, AgentMessage } from '../../../../handlers/verbs.ts'
import { isJsonObject } from '../../../core/json.ts'
import type { EngineMessage, EngineRequest } from '../../engine.ts'
import type { WireMessage } from '../session/engine-socket.ts'
import { voiceNameOf } from '../session/voice-name.ts'
import type { GeminiOptions } from './gemini-options.ts'

const modelNameOf = (model: string): string => (model.includes('/') ? model : `models/${model}`)

/** Members of JSON Schema that the server rejects. */
const unknownMembers: readonly string[] = ['$schema', 'additionalProperties']

/** Returns a schema without the members that the server rejects. */
const schemaOf = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(schemaOf)
  if (!isJsonObject(schema)) return schema
  const members = Object.entries(schema).filter(([name]) => !unknownMembers.includes(name))
  return Object.fromEntries(members.map(([name, value]) => [name, schemaOf(value)]))
}

const hasProperties = ({ properties }: Readonly<Record<string, unknown>>): boolean =>
  isJsonObject(properties) && Object.keys(properties).length > 0

/** Whether a schema contains an object without properties, which `parameters` may not. */
const hasOpenObject = (schema: unknown): boolean => {
  if (Array.isArray(schema)) return schema.some(hasOpenObject)
  if (!isJsonObject(schema)) return false
  return (schema.type === 'object' && !hasProperties(schema)) || Object.values(schema).some(hasOpenObject)
}

/** Returns the declaration of a function. One without parameters has no schema. */
const declarationOf = ({ name, description, parameters }: AgentFunction): WireMessage => {
  if (!hasProperties(parameters)) return { name, description }
  return hasOpenObject(parameters)
    ? { name, description, parametersJsonSchema: parameters }
    : { name, description, parameters: schemaOf(parameters) }
}

const detectionOf = (request: EngineRequest): WireMessage => ({
  automaticActivityDetection: { silenceDurationMs: request.endOfSpeechMs },
  activityHandling: (request.isInterruptible ?? true) ? 'START_OF_ACTIVITY_INTERRUPTS' : 'NO_INTERRUPTION',
})

/** Models that take `clientContent` at any time: those of the second generation. */
const earlierModels = /(?:^|\/)gemini-(?:live-)?2\./

/** Returns whether the server takes texts beside the conversation at any time. */
export const hasNotes = ({ notes, model }: GeminiOptions): boolean => notes ?? earlierModels.test(model)

const speechOf = (options: GeminiOptions, request: EngineRequest): WireMessage | undefined => {
  const voiceName = voiceNameOf(request.languages[0], 'gemini') ?? options.voice
  return voiceName === undefined ? undefined : { voiceConfig: { prebuiltVoiceConfig: { voiceName } } }
}

/** Returns the first message. `handle`: of the session to continue. */
export const setupOf = (
  options: GeminiOptions,
  request: EngineRequest,
  handle: string | undefined,
): WireMessage => {
  const { prompt, functions, settings, history } = request
  const hasHistory = handle === undefined && turnsOf(history).length > 0
  const speechConfig = speechOf(options, request)
  return {
    setup: {
      model: modelNameOf(options.model),
      generationConfig: {
        responseModalities: ['AUDIO'],
        ...(speechConfig && { speechConfig }),
        ...(settings.temperature !== undefined && { temperature: settings.temperature }),
        ...(settings.topP !== undefined && { topP: settings.topP }),
        ...(settings.maxTokens !== undefined && { maxOutputTokens: settings.maxTokens }),
      },
      ...(prompt !== '' && { systemInstruction: { parts: [{ text: prompt }] } }),
      ...(functions.length > 0 && { tools: [{ functionDeclarations: functions.map(declarationOf) }] }),
      realtimeInputConfig: detectionOf(request),
      inputAudioTranscription: {},
      outputAudioTranscription: {},
      // Without it, a session holds 15 minutes of audio.
      contextWindowCompression: { slidingWindow: {} },
      sessionResumption: handle === undefined ? {} : { handle },
      ...(hasHistory && { historyConfig: { initialHistoryInClientContent: true } }),
    },
  }
}

/** Returns a message as a text of the client; those of the system are in brackets. */
export const textOf = ({ role, content }: AgentMessage): string =>
  role === 'system' ? `(${content})` : content

const turnOf = (role: 'user' | 'model', text: string): WireMessage => ({ role, parts: [{ text }] })

/** Returns messages as turns; calls of functions and their results are noted as text. */
export const turnsOf = (history: readonly EngineMessage[]): readonly WireMessage[] =>
  history.flatMap((message) => {
    if (message.role === 'tool') return [turnOf('user', `(Result of ${message.name}: ${message.content})`)]
    if (message.content === '') return []
    if (message.role === 'system') return [turnOf('user', `(${message.content})`)]
    return [turnOf(message.role === 'assistant' ? 'model' : 'user', message.content)]
  })

/** Returns the milliseconds of a duration such as `50s` or `9.5s`; undefined if it is none. */
export const durationMs = (text: unknown): number | undefined => {
  const seconds = typeof text === 'string' ? /^(\d{1,9}(?:\.\d{1,9})?)s$/.exec(text)?.[1] : undefined
  return seconds === undefined ? undefined : Number(seconds) * 1000
}

/** Returns the sample rate in a MIME type such as `audio/pcm;rate=24000`; default 24,000. */
export const rateOf = (mimeType: string): number => Number(/;\s?rate=(\d{4,6})/.exec(mimeType)?.[1] ?? 24_000)
