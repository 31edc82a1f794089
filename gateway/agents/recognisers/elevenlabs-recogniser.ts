import type { SteadyClock } from '../../core/clock.ts'
import type { EngineFailureKind } from '../engine.ts'
import type { WireMessage } from '../engines/session/engine-socket.ts'
import { textAt } from '../engines/session/wire-values.ts'
import { EngineError } from '../streaming/engine-error.ts'
import { urlWith } from '../streaming/url-with.ts'
import { type AgentRecognitionListener, type AgentRecognitionRequest, onlyLanguage } from './recogniser.ts'
import {
  type RecognitionDialect,
  SocketRecogniser,
  type SocketRecogniserOptions,
} from './socket-recogniser.ts'

/** Recogniser of ElevenLabs' realtime speech to text. The server ends segments by its own detection. */
export const elevenLabsRecogniser = (
  options: SocketRecogniserOptions,
  clock: SteadyClock,
): SocketRecogniser => new SocketRecogniser(options, (request) => dialectOf(options, request), clock)

/** Limits of the silence that ends a segment, in ms. */
const minSilenceMs = 300
const maxSilenceMs = 3000

const dialectOf = (
  { url, key, model }: SocketRecogniserOptions,
  request: AgentRecognitionRequest,
): RecognitionDialect => {
  const { rate, endOfSpeechMs, language } = request
  const only = onlyLanguage(request)
  return {
    url: urlWith(url, {
      model_id: model ?? 'scribe_v2_realtime',
      audio_format: rate === 8000 ? 'ulaw_8000' : 'pcm_16000',
      commit_strategy: 'vad',
      vad_silence_threshold_secs: Math.min(Math.max(endOfSpeechMs, minSilenceMs), maxSilenceMs) / 1000,
      include_language_detection: only === undefined && language !== undefined ? true : undefined,
      language_code: only?.split('-')[0],
    }),
    headers: key ? { 'xi-api-key': key } : {},
    format: rate === 8000 ? 'pcmu' : 'pcm16000',
    // Messages of 100 ms: each is JSON.
    frames: 5,
    first: [],
    isReady: ({ message_type }) => message_type === 'session_started',
    audio: (bytes) => ({
      message_type: 'input_audio_chunk',
      audio_base_64: bytes.toString('base64'),
      commit: false,
      sample_rate: rate === 8000 ? 8000 : 16_000,
    }),
    read,
  }
}

const kinds: Readonly<Record<string, EngineFailureKind>> = {
  auth_error: 'unauthorised',
  quota_exceeded: 'limited',
  rate_limited: 'limited',
  resource_exhausted: 'limited',
  queue_overflow: 'limited',
  input_error: 'refused',
  unaccepted_terms: 'refused',
  session_time_limit_exceeded: 'server',
  transcriber_error: 'server',
  error: 'server',
}

const read = (message: WireMessage, listener: AgentRecognitionListener): EngineError | undefined => {
  const type = textAt(message, 'message_type') ?? ''
  const kind = kinds[type]
  if (kind) return new EngineError(kind, `the server reported ${type}`)
  const text = (textAt(message, 'text') ?? '').trim()
  // With its language, a text comes a second time.
  const language = textAt(message, 'language_code')
  if (type === 'committed_transcript_with_timestamps' && language) listener.onLanguage?.(language)
  const isFinal = type === 'committed_transcript'
  if ((isFinal || type === 'partial_transcript') && text !== '') listener.onTranscript({ text, isFinal })
  return undefined
}
