import type { AgentFunction, AgentModelSettings } from '../../../../handlers/verbs.ts'
import type { EngineFailureKind, EngineMessage, EngineRequest } from '../../engine.ts'
import type { WireMessage } from '../session/engine-socket.ts'
import { kindOfCode } from '../session/failures.ts'
import { onlyLanguageOf, voiceNameOf } from '../session/voice-name.ts'
import { textAt } from '../session/wire-values.ts'
import type { RealtimeOptions } from './realtime-options.ts'

/** Beta names of server events, with the names since general availability. */
const gaNames: Readonly<Record<string, string>> = {
  'response.audio.delta': 'response.output_audio.delta',
  'response.audio.done': 'response.output_audio.done',
  'response.audio_transcript.delta': 'response.output_audio_transcript.delta',
  'response.audio_transcript.done': 'response.output_audio_transcript.done',
  'response.text.delta': 'response.output_text.delta',
  'response.text.done': 'response.output_text.done',
  'conversation.item.created': 'conversation.item.added',
}

/** Returns the type of a server event, by its name since general availability. */
export const eventNameOf = (message: WireMessage): string => {
  const type = textAt(message, 'type') ?? ''
  return gaNames[type] ?? type
}

const betaFormats = { pcmu: 'g711_ulaw', pcma: 'g711_alaw', pcm24000: 'pcm16' } as const
const gaFormats = {
  pcmu: { type: 'audio/pcmu' },
  pcma: { type: 'audio/pcma' },
  pcm24000: { type: 'audio/pcm', rate: 24_000 },
} as const

/** Rules of turns as a session begins with, or changes to. */
export type TurnRequest = Pick<EngineRequest, 'isSemantic' | 'endOfSpeechMs' | 'isInterruptible'>

/**
 * Returns `turn_detection`: by meaning where it is asked for and known to the server, else by silence. The
 * server answers by itself. It cancels its own answer at the caller's voice, unless the rules forbid it. An
 * answer that goes on is the only one: the server gives none to the words spoken meanwhile.
 */
export const turnDetectionOf = (options: RealtimeOptions, turns: TurnRequest): WireMessage => {
  const { dialect = 'ga', hasSemanticTurns = dialect === 'ga', eagerness = 'auto' } = options
  const answers = {
    create_response: true,
    interrupt_response: (options.isServerInterrupting ?? true) && (turns.isInterruptible ?? true),
  }
  return turns.isSemantic && hasSemanticTurns
    ? { type: 'semantic_vad', eagerness, ...answers }
    : { type: 'server_vad', silence_duration_ms: turns.endOfSpeechMs, ...answers }
}

/** Returns the functions as `tools`. */
export const toolsOf = (functions: readonly AgentFunction[]): readonly WireMessage[] =>
  functions.map(({ name, description, parameters }) => ({ type: 'function', name, description, parameters }))

/** Returns `transcription`; null switches it off. */
export const transcriptionOf = (
  { transcriptionModel = 'gpt-4o-mini-transcribe' }: RealtimeOptions,
  { languages, hints }: Pick<EngineRequest, 'languages' | 'hints'>,
): WireMessage | null => {
  if (transcriptionModel === '') return null
  const language = onlyLanguageOf(languages)
  return {
    model: transcriptionModel,
    ...(language !== undefined && { language }),
    ...(hints.length > 0 && { prompt: hints.join(', ') }),
  }
}

/** Maximum of `max_output_tokens`. */
const maxOutputTokens = 4096

const tokensOf = ({ maxTokens }: AgentModelSettings): number | undefined =>
  maxTokens === undefined || maxTokens < 1 ? undefined : Math.min(maxTokens, maxOutputTokens)

/** Returns the settings of the model that the dialect has. */
export const settingsOf = (dialect: 'ga' | 'beta', settings: AgentModelSettings): WireMessage => {
  const tokens = tokensOf(settings)
  if (dialect === 'ga') return { ...(tokens !== undefined && { max_output_tokens: tokens }) }
  return {
    ...(tokens !== undefined && { max_response_output_tokens: tokens }),
    ...(settings.temperature !== undefined && {
      temperature: Math.max(0.6, Math.min(1.2, settings.temperature)),
    }),
  }
}

/** Wraps changes of the caller's audio as the dialect has them. */
export const inputChange = (
  dialect: 'ga' | 'beta',
  input: { readonly transcription?: WireMessage | null; readonly turn_detection?: WireMessage },
): WireMessage => {
  if (dialect === 'ga') return { audio: { input } }
  const { transcription, turn_detection } = input
  return {
    ...(transcription !== undefined && { input_audio_transcription: transcription }),
    ...(turn_detection && { turn_detection }),
  }
}

/** Returns the `session.update` that a session begins with. `isText`: the server writes its answers. */
export const firstUpdate = (
  options: RealtimeOptions,
  request: EngineRequest,
  isText: boolean,
): WireMessage => {
  const { dialect = 'ga', format = 'pcmu', reasoningEffort } = options
  const voice = voiceNameOf(request.languages[0], 'openai') ?? options.voice
  const common = {
    instructions: request.prompt,
    tools: toolsOf(request.functions),
    tool_choice: 'auto',
    ...settingsOf(dialect, request.settings),
  }
  const transcription = transcriptionOf(options, request)
  const turn_detection = turnDetectionOf(options, request)
  if (dialect === 'beta')
    return updateOf(dialect, {
      ...common,
      ...inputChange(dialect, { transcription, turn_detection }),
      modalities: isText ? ['text'] : ['audio', 'text'],
      input_audio_format: betaFormats[format],
      ...(!isText && { output_audio_format: betaFormats[format], ...(voice !== undefined && { voice }) }),
    })
  return updateOf(dialect, {
    ...common,
    output_modalities: [isText ? 'text' : 'audio'],
    audio: {
      input: { format: gaFormats[format], transcription, turn_detection },
      ...(!isText && {
        output: { format: gaFormats[format], ...(voice !== undefined && { voice }) },
      }),
    },
    ...(reasoningEffort !== undefined && { reasoning: { effort: reasoningEffort } }),
  })
}

/** Returns a `session.update` of some members. */
export const updateOf = (dialect: 'ga' | 'beta', session: WireMessage): WireMessage => ({
  type: 'session.update',
  session: { ...(dialect === 'ga' && { type: 'realtime' }), ...session },
})

const createItem = (item: WireMessage): WireMessage => ({ type: 'conversation.item.create', item })

/** Returns the events that add a result of a function. */
export const outputItem = (callId: string, output: string): WireMessage =>
  createItem({ type: 'function_call_output', call_id: callId, output })

/** Returns the events that add a message to the conversation: one for it, and one for each call in it. */
export const itemsOf = (dialect: 'ga' | 'beta', message: EngineMessage): readonly WireMessage[] => {
  if (message.role === 'tool') return [outputItem(message.callId, message.content)]
  const spoken = dialect === 'ga' ? 'output_text' : 'text'
  const type = message.role === 'assistant' ? spoken : 'input_text'
  const calls = 'calls' in message && message.calls ? message.calls : []
  return [
    ...(message.content === ''
      ? []
      : [createItem({ type: 'message', role: message.role, content: [{ type, text: message.content }] })]),
    ...calls.map(({ id, name, args }) =>
      createItem({ type: 'function_call', call_id: id, name, arguments: args }),
    ),
  ]
}

/** Returns the kind of an `error` event. */
export const kindOfErrorEvent = (error: WireMessage): EngineFailureKind =>
  kindOfCode(`${textAt(error, 'code') ?? ''} ${textAt(error, 'type') ?? ''}`, 'refused')
