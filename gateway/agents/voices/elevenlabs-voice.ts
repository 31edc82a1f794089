import type { SteadyClock } from '../../core/clock.ts'
import type { WireMessage } from '../engines/session/engine-socket.ts'
import { kindOfCode } from '../engines/session/failures.ts'
import { textAt } from '../engines/session/wire-values.ts'
import { EngineError } from '../streaming/engine-error.ts'
import { urlWith } from '../streaming/url-with.ts'
import { SocketVoice, type SocketVoiceOptions, type VoiceDialect, type VoiceEvent } from './socket-voice.ts'
import type { SpeakOptions } from './voice.ts'

/**
 * Voice of ElevenLabs' `/v1/text-to-speech/<voice>/stream-input`. The URL is that of the service, up to and
 * without the voice.
 */
export const elevenLabsVoice = (options: SocketVoiceOptions, clock: SteadyClock): SocketVoice =>
  new SocketVoice(options, (text, speak) => dialectOf(options, text, speak), clock)

const dialectOf = (
  options: SocketVoiceOptions,
  text: string,
  { rate, voice, language, settings }: SpeakOptions,
): VoiceDialect => {
  const url = new URL(options.url)
  const id = encodeURIComponent(voice ?? options.voice ?? '')
  url.pathname = `${url.pathname.replace(/\/$/, '')}/${id}/stream-input`
  const model = options.model ?? 'eleven_flash_v2_5'
  return {
    url: urlWith(url.href, {
      model_id: model,
      output_format: rate === 8000 ? 'ulaw_8000' : 'pcm_16000',
      auto_mode: true,
      // Other models reject a language.
      language_code: /_v2_5$|_v3$/.test(model) ? language?.split('-')[0] : undefined,
    }),
    headers: options.key ? { 'xi-api-key': options.key } : {},
    format: rate === 8000 ? 'pcmu' : 'pcm16000',
    first: [
      { text: ' ', ...(settings && { voice_settings: settings }) },
      { text: `${text} `, flush: true },
      // The empty text ends the speech.
      { text: '' },
    ],
    isBinary: false,
    read,
  }
}

const read = (message: WireMessage): VoiceEvent => {
  if (message.error !== undefined || textAt(message, 'message') !== undefined)
    return { error: errorOf(message) }
  const audio = textAt(message, 'audio')
  return { ...(audio && { audio }), isEnd: message.isFinal === true }
}

const errorOf = (message: WireMessage): EngineError => {
  const code = textAt(message, 'error') ?? ''
  return new EngineError(
    kindOfCode(code, 'refused'),
    `the server reported an error${/^[\w-]{1,40}$/.test(code) ? ` (${code})` : ''}`,
  )
}
