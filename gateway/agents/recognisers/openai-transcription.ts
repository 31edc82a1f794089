import type { SteadyClock } from '../../core/clock.ts'
import type { WireMessage } from '../engines/session/engine-socket.ts'
import { kindOfCode } from '../engines/session/failures.ts'
import { objectAt, textAt } from '../engines/session/wire-values.ts'
import { EngineError } from '../streaming/engine-error.ts'
import { urlWith } from '../streaming/url-with.ts'
import { type AgentRecognitionListener, type AgentRecognitionRequest, onlyLanguage } from './recogniser.ts'
import {
  type RecognitionDialect,
  SocketRecogniser,
  type SocketRecogniserOptions,
} from './socket-recogniser.ts'

/** Silence after which the server ends a segment with its final text, in ms. */
const silenceMs = 300
/** Maximum number of segments that are recognised at a time. */
const maxSegments = 16
/** Maximum number of characters of a segment. */
const maxTextLength = 20_000

/** Recogniser of OpenAI's Realtime protocol as a transcription session, and of servers that speak it. */
export const openAiTranscription = (options: SocketRecogniserOptions, clock: SteadyClock): SocketRecogniser =>
  new SocketRecogniser(options, (request) => dialectOf(options, request), clock)

const dialectOf = (
  { url, key, model }: SocketRecogniserOptions,
  request: AgentRecognitionRequest,
): RecognitionDialect => {
  const { rate, hints } = request
  const language = onlyLanguage(request)
  return {
    url: urlWith(url, { intent: 'transcription' }),
    headers: key ? { authorization: `Bearer ${key}` } : {},
    format: rate === 8000 ? 'pcmu' : 'pcm24000',
    first: [
      {
        type: 'session.update',
        session: {
          type: 'transcription',
          audio: {
            input: {
              format: rate === 8000 ? { type: 'audio/pcmu' } : { type: 'audio/pcm', rate: 24_000 },
              transcription: {
                model: model ?? 'gpt-4o-mini-transcribe',
                // ISO 639-1.
                ...(language && { language: language.split('-')[0] }),
                ...(hints.length > 0 && { prompt: hints.join(', ') }),
              },
              turn_detection: { type: 'server_vad', silence_duration_ms: silenceMs },
            },
          },
        },
      },
    ],
    isReady: ({ type }) => type === 'session.updated' || type === 'transcription_session.updated',
    audio: (bytes) => ({ type: 'input_audio_buffer.append', audio: bytes.toString('base64') }),
    read: reader(),
  }
}

/** Returns the reader of one session: texts of segments arrive in pieces. */
const reader = (): RecognitionDialect['read'] => {
  const texts = new Map<string, string>()
  let isConfigured = false
  return (message, listener) => {
    const segment = textAt(message, 'item_id') ?? ''
    switch (message.type) {
      case 'session.updated':
      case 'transcription_session.updated':
        isConfigured = true
        break
      case 'conversation.item.input_audio_transcription.delta':
        readDelta(texts, segment, textAt(message, 'delta') ?? '', listener)
        break
      case 'conversation.item.input_audio_transcription.completed': {
        texts.delete(segment)
        const text = (textAt(message, 'transcript') ?? '').trim()
        if (text !== '') listener.onTranscript({ text, isFinal: true })
        break
      }
      case 'conversation.item.input_audio_transcription.failed':
        texts.delete(segment)
        break
      case 'error':
        // Later errors are those of single events, such as an empty buffer.
        return isConfigured ? undefined : errorOf(objectAt(message, 'error'))
    }
    return undefined
  }
}

const readDelta = (
  texts: Map<string, string>,
  segment: string,
  delta: string,
  listener: AgentRecognitionListener,
): void => {
  const text = `${texts.get(segment) ?? ''}${delta}`.slice(0, maxTextLength)
  texts.delete(segment)
  texts.set(segment, text)
  const [oldest] = texts.keys()
  if (texts.size > maxSegments && oldest !== undefined) texts.delete(oldest)
  if (text.trim() !== '') listener.onTranscript({ text: text.trim(), isFinal: false })
}

const errorOf = (error: WireMessage): EngineError => {
  const code = textAt(error, 'code') ?? textAt(error, 'type') ?? ''
  return new EngineError(
    kindOfCode(code, 'refused'),
    `the server rejected the session${/^[\w.-]{1,40}$/.test(code) ? ` (${code})` : ''}`,
  )
}
