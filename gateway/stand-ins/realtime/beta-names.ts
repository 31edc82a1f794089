/** Names of the GA interface of OpenAI Realtime, and those of its beta. */
import { isJsonObject } from '../../core/json.ts'

/** Pairs of beginnings of event types. */
const events = [
  ['response.output_audio_transcript.', 'response.audio_transcript.'],
  ['response.output_audio.', 'response.audio.'],
  ['response.output_text.', 'response.text.'],
  ['conversation.item.added', 'conversation.item.created'],
] as const

/** Pairs of types of content. */
const contents: Readonly<Record<string, string>> = { output_text: 'text', output_audio: 'audio' }

/** Returns an event with the beta's names; undefined if the beta has no such event. */
export const toBeta = (message: Readonly<Record<string, unknown>>): object | undefined => {
  const type = String(message.type)
  if (type === 'conversation.item.done') return undefined
  const [ga, beta] = events.find(([start]) => type.startsWith(start)) ?? ['', '']
  return renamed({ ...message, type: `${beta}${type.slice(ga.length)}` }) as object
}

/** Renames types of content, at any depth. */
const renamed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(renamed)
  if (!isJsonObject(value)) return value
  const entries = Object.entries(value).map(([name, each]) => {
    if (name === 'type' && typeof each === 'string') return [name, contents[each] ?? each]
    if (name === 'output_modalities') return ['modalities', each]
    return [name, renamed(each)]
  })
  return Object.fromEntries(entries) as unknown
}

const formats: Readonly<Record<string, object>> = {
  pcm16: { type: 'audio/pcm', rate: 24_000 },
  g711_ulaw: { type: 'audio/pcmu' },
  g711_alaw: { type: 'audio/pcma' },
}

const betaFormats: Readonly<Record<string, string>> = {
  'audio/pcm': 'pcm16',
  'audio/pcmu': 'g711_ulaw',
  'audio/pcma': 'g711_alaw',
}

/** Returns a session of the beta in the form of GA. */
export const sessionFromBeta = (session: Readonly<Record<string, unknown>>): Record<string, unknown> => {
  const { modalities, voice, input_audio_format, output_audio_format, ...rest } = session
  const { input_audio_transcription, turn_detection, max_response_output_tokens, ...others } = rest
  const input = {
    ...(input_audio_format !== undefined && {
      format: formats[String(input_audio_format)] ?? { type: input_audio_format },
    }),
    ...(input_audio_transcription !== undefined && { transcription: input_audio_transcription }),
    ...(turn_detection !== undefined && { turn_detection }),
  }
  const output = {
    ...(output_audio_format !== undefined && {
      format: formats[String(output_audio_format)] ?? { type: output_audio_format },
    }),
    ...(voice !== undefined && { voice }),
  }
  const isText = Array.isArray(modalities) && !modalities.includes('audio')
  return {
    ...others,
    type: 'realtime',
    ...(modalities !== undefined && { output_modalities: isText ? ['text'] : ['audio'] }),
    ...(max_response_output_tokens !== undefined && { max_output_tokens: max_response_output_tokens }),
    audio: { input, output },
  }
}

/** Returns a session of GA in the form of the beta. */
export const sessionToBeta = (session: Readonly<Record<string, unknown>>): Record<string, unknown> => {
  const { audio, type: _, output_modalities, max_output_tokens, ...rest } = session
  const { input, output } = isJsonObject(audio) ? audio : {}
  const [heard, spoken] = [input, output].map((each) => (isJsonObject(each) ? each : {}))
  const isText = Array.isArray(output_modalities) && !output_modalities.includes('audio')
  return {
    ...rest,
    modalities: isText ? ['text'] : ['audio', 'text'],
    voice: spoken?.voice,
    input_audio_format: betaFormat(heard?.format),
    output_audio_format: betaFormat(spoken?.format),
    input_audio_transcription: heard?.transcription ?? null,
    turn_detection: heard?.turn_detection ?? null,
    max_response_output_tokens: max_output_tokens,
  }
}

const betaFormat = (format: unknown): string =>
  betaFormats[isJsonObject(format) ? String(format.type) : ''] ?? 'pcm16'
