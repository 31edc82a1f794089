import { randomUUID } from 'node:crypto'
import type { SteadyClock } from '../../core/clock.ts'
import type { WireMessage } from '../engines/session/engine-socket.ts'
import { kindOfStatus } from '../engines/session/failures.ts'
import { numberAt, textAt } from '../engines/session/wire-values.ts'
import { EngineError } from '../streaming/engine-error.ts'
import { SocketVoice, type SocketVoiceOptions, type VoiceDialect, type VoiceEvent } from './socket-voice.ts'
import type { SpeakOptions } from './voice.ts'

/** Version of the interface, which each request must name. */
const version = '2025-04-16'

/** Voice of Cartesia's `/tts/websocket`. */
export const cartesiaVoice = (options: SocketVoiceOptions, clock: SteadyClock): SocketVoice =>
  new SocketVoice(options, (text, speak) => dialectOf(options, text, speak), clock)

const dialectOf = (
  { url, voice, model, key }: SocketVoiceOptions,
  text: string,
  options: SpeakOptions,
): VoiceDialect => {
  const isTelephone = options.rate === 8000
  const context = randomUUID()
  return {
    url,
    headers: { 'cartesia-version': version, ...(key && { 'x-api-key': key }) },
    format: isTelephone ? 'pcmu' : 'pcm16000',
    first: [
      {
        ...options.settings,
        model_id: model ?? 'sonic-2',
        transcript: text,
        voice: { mode: 'id', id: options.voice ?? voice ?? '' },
        ...(options.language && { language: options.language.split('-')[0] }),
        output_format: {
          container: 'raw',
          encoding: isTelephone ? 'pcm_mulaw' : 'pcm_s16le',
          sample_rate: isTelephone ? 8000 : 16_000,
        },
        context_id: context,
        continue: false,
      },
    ],
    isBinary: false,
    last: { context_id: context, cancel: true },
    read,
  }
}

const read = (message: WireMessage): VoiceEvent => {
  const audio = textAt(message, 'data')
  switch (message.type) {
    case 'chunk':
      return audio ? { audio } : {}
    case 'done':
      return { isEnd: true }
    case 'error': {
      const status = numberAt(message, 'status_code') ?? 500
      return { error: new EngineError(kindOfStatus(status), `the server reported an error (${status})`) }
    }
    default:
      return {}
  }
}
