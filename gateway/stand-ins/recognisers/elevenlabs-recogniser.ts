import { randomUUID } from 'node:crypto'
import { elevenLabsFormat } from '../elevenlabs-format.ts'
import { errorFacts, type SocketCall, type SocketEngine } from '../stand.ts'
import { Recognition, timedWords } from './recognition.ts'

/** Silence that ends a turn if the client names none, in seconds. */
const defaultSilence = 1.5

/** ElevenLabs' realtime recogniser. */
export const elevenLabsRecogniser: SocketEngine = {
  name: 'elevenlabs-recogniser',
  serves: (path) => path === '/v1/speech-to-text/realtime',
  open: (call) => {
    const format = elevenLabsFormat(call.url.searchParams.get('audio_format') ?? 'pcm_16000')
    if (format) open(call, format)
    else call.socket.close(1008, 'Unsupported audio format')
  },
}

const open = (call: SocketCall, format: NonNullable<ReturnType<typeof elevenLabsFormat>>): void => {
  const { socket, url } = call
  const strategy = url.searchParams.get('commit_strategy') ?? 'manual'
  const seconds = Number(url.searchParams.get('vad_silence_threshold_secs') ?? defaultSilence)
  const silenceMs = strategy === 'manual' ? Number.POSITIVE_INFINITY : seconds * 1000
  const isTimed = url.searchParams.get('include_timestamps') === 'true'
  const send = (message_type: string, rest: object) => socket.send({ message_type, ...rest })
  const recognition = new Recognition(
    call,
    { engine: 'elevenlabs-recogniser', format, silenceMs },
    {
      onPartial: (text) => send('partial_transcript', { text }),
      onFinal: (text, { startMs, speechMs }) => {
        send('committed_transcript', { text })
        if (!isTimed) return
        const words = timedWords(text, startMs, speechMs)
        const items = words.map(({ word, start, end }) => ({
          text: word,
          start,
          end,
          type: 'word',
          logprob: 0,
        }))
        send('committed_transcript_with_timestamps', { text, language_code: 'en', words: items })
      },
      error: (kind) => {
        const type = kind === 'unauthorised' ? 'auth_error' : kind === 'limited' ? 'quota_exceeded' : 'error'
        send(type, { error: errorFacts[kind].text })
        socket.close(1008)
      },
    },
  )
  socket.listen({
    onMessage: ({ message_type, audio_base_64: audio, commit }) => {
      if (message_type !== 'input_audio_chunk') return
      if (typeof audio === 'string') recognition.feed(Buffer.from(audio, 'base64'))
      if (commit !== true) return
      void recognition.end().then((spoke) => {
        if (!spoke) send('committed_transcript', { text: '' })
      })
    },
    onClosed: () => recognition.close(),
  })
  const config = {
    sample_rate: format.rate,
    commit_strategy: strategy,
    model_id: url.searchParams.get('model_id'),
  }
  send('session_started', { session_id: randomUUID(), config })
}
