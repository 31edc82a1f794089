import type { SteadyClock } from '../../core/clock.ts'
import type { WireMessage } from '../engines/session/engine-socket.ts'
import { textAt } from '../engines/session/wire-values.ts'
import { EngineError } from '../streaming/engine-error.ts'
import { urlWith } from '../streaming/url-with.ts'
import { SocketVoice, type SocketVoiceOptions, type VoiceDialect, type VoiceEvent } from './socket-voice.ts'
import type { SpeakOptions } from './voice.ts'

/** Voice of Deepgram's `/v1/speak` (Aura). Voices are names of models, as Deepgram has it. */
export const deepgramVoice = (options: SocketVoiceOptions, clock: SteadyClock): SocketVoice =>
  new SocketVoice(options, (text, speak) => dialectOf(options, text, speak), clock)

const dialectOf = (
  { url, voice, model, key }: SocketVoiceOptions,
  text: string,
  options: SpeakOptions,
): VoiceDialect => {
  const isTelephone = options.rate === 8000
  return {
    url: urlWith(url, {
      model: options.voice ?? voice ?? model ?? 'aura-2-thalia-en',
      encoding: isTelephone ? 'mulaw' : 'linear16',
      sample_rate: isTelephone ? 8000 : 16_000,
    }),
    headers: key ? { authorization: `Token ${key}` } : {},
    format: isTelephone ? 'pcmu' : 'pcm16000',
    first: [{ type: 'Speak', text }, { type: 'Flush' }],
    isBinary: true,
    last: { type: 'Close' },
    read,
  }
}

const read = (message: WireMessage): VoiceEvent => {
  const type = textAt(message, 'type')
  if (type === 'Flushed') return { isEnd: true }
  return type === 'Error' ? { error: new EngineError('server', 'the server reported an error') } : {}
}
