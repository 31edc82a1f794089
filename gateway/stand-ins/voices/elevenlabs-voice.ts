import type { Timer } from '../../core/clock.ts'
import { type AudioFormat, toBytes } from '../audio-format.ts'
import { elevenLabsFormat } from '../elevenlabs-format.ts'
import { errorFacts, type SocketCall, type SocketEngine } from '../stand.ts'
import { VoiceRun } from './voice-run.ts'

/**
 * Length of a text that is spoken without a flush, in characters: the server's first
 * `chunk_length_schedule`.
 */
const chunkLength = 120
const defaultIdleSeconds = 20

/** ElevenLabs' voice behind a WebSocket, with one context or several. */
export const elevenLabsVoice: SocketEngine = {
  name: 'elevenlabs-voice',
  serves: (path) => /^\/v1\/text-to-speech\/[^/]{1,100}\/(?:multi-)?stream-input$/.test(path),
  open: (call) => {
    const format = elevenLabsFormat(call.url.searchParams.get('output_format') ?? 'pcm_16000')
    if (format) new ElevenLabsVoiceSession(call, format)
    else call.socket.close(1008, 'Unsupported output format')
  },
}

/** Context of a connection: text that waits, and its voice. */
interface Context {
  readonly voice: VoiceRun
  text: string
}

class ElevenLabsVoiceSession {
  readonly #call: SocketCall
  readonly #format: AudioFormat
  readonly #isMulti: boolean
  readonly #contexts = new Map<string, Context>()
  readonly #idleMs: number
  #idle: Timer | undefined

  constructor(call: SocketCall, format: AudioFormat) {
    this.#call = call
    this.#format = format
    this.#isMulti = call.url.pathname.endsWith('/multi-stream-input')
    this.#idleMs = Number(call.url.searchParams.get('inactivity_timeout') ?? defaultIdleSeconds) * 1000
    call.socket.listen({
      onMessage: (message) => this.#read(message),
      onClosed: () => {
        this.#idle?.cancel()
        for (const { voice } of this.#contexts.values()) voice.clear()
      },
    })
    this.#restartIdle()
  }

  #read(message: Readonly<Record<string, unknown>>): void {
    this.#restartIdle()
    const { text, context_id, flush, close_context, close_socket, try_trigger_generation: trigger } = message
    const id = this.#isMulti ? String(context_id ?? 'default') : ''
    if (close_socket === true) {
      this.#call.socket.close(1000)
      return
    }
    const context = this.#context(id)
    if (typeof text === 'string' && text !== '') context.text += text === ' ' ? '' : text
    const isEnd = close_context === true || (text === '' && !this.#isMulti)
    const isAuto = this.#call.url.searchParams.get('auto_mode') === 'true' && context.text !== ''
    if (flush === true || trigger === true || isEnd || isAuto || context.text.length >= chunkLength)
      this.#flush(context)
    if (isEnd) this.#end(id, context)
  }

  #flush(context: Context): void {
    context.voice.speak(context.text.trim())
    context.text = ''
  }

  #end(id: string, { voice }: Context): void {
    voice.afterwards(() => {
      this.#send(id, { audio: null, isFinal: true, alignment: null, normalizedAlignment: null })
      this.#contexts.delete(id)
      if (!this.#isMulti) this.#call.socket.close(1000)
    })
  }

  #context(id: string): Context {
    const known = this.#contexts.get(id)
    if (known) return known
    const voice = new VoiceRun(this.#call, 'elevenlabs-voice', this.#format.rate, {
      onAudio: (samples, text, at, count) => {
        const alignment = alignmentOf(text, at, samples.length, count, this.#format.rate)
        const audio = toBytes(samples, this.#format).toString('base64')
        this.#send(id, { audio, isFinal: null, alignment, normalizedAlignment: alignment })
      },
      error: (kind) => {
        this.#send(id, { error: errorFacts[kind].code, message: errorFacts[kind].text })
        this.#call.socket.close(1008)
      },
    })
    const context = { voice, text: '' }
    this.#contexts.set(id, context)
    return context
  }

  #send(id: string, message: object): void {
    this.#call.socket.send(this.#isMulti ? { ...message, contextId: id } : message)
  }

  #restartIdle(): void {
    this.#idle?.cancel()
    this.#idle = this.#call.stand.clock.after(this.#idleMs, () =>
      this.#call.socket.close(1008, 'input_timeout_exceeded'),
    )
  }
}

/** Returns the characters of a piece of audio with their times, as if all characters took the same time. */
const alignmentOf = (text: string, at: number, length: number, count: number, rate: number): object => {
  const position = (sample: number) => Math.round((text.length * sample) / count)
  const chars = [...text.slice(position(at), position(at + length))]
  const eachMs = (length / rate / Math.max(1, chars.length)) * 1000
  return {
    chars,
    charStartTimesMs: chars.map((_, index) => Math.round(index * eachMs)),
    charDurationsMs: chars.map(() => Math.round(eachMs)),
  }
}
