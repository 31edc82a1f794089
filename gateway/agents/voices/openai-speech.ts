import type { Clock } from '../../core/clock.ts'
import { WireDecoder, type WireFormat } from '../engines/session/wire-audio.ts'
import { Deadline } from '../streaming/deadline.ts'
import { EngineError, engineErrorOf } from '../streaming/engine-error.ts'
import type { StreamingHttp } from '../streaming/streaming-http.ts'
import type { AgentVoice, SpeakOptions, SpeechListener, Utterance } from './voice.ts'

/** Options of an {@link OpenAiSpeech}. */
export interface OpenAiSpeechOptions {
  /** Name in the configuration. */
  readonly name: string
  /** URL of the route, for instance `https://api.openai.com/v1/audio/speech`. */
  readonly url: string
  readonly model: string
  /** Voice by the server's name, unless the document names one. */
  readonly voice: string
  /** Key, sent as a bearer token. Never logged. */
  readonly key?: string
  /** Further headers. Never logged. */
  readonly headers?: Readonly<Record<string, string>>
  /** Further members of each request, for instance `instructions`. */
  readonly extra?: Readonly<Record<string, unknown>>
  /** Format of the server's `pcm`; default `pcm24000`. */
  readonly format?: WireFormat
  /** Maximum wait for the first audio, in ms; default 5000. */
  readonly firstAudioMs?: number
  /** Maximum wait for further audio, in ms; default 3000. */
  readonly audioMs?: number
}

/** Maximum number of characters of a text: the limit of the interface. */
const maxTextLength = 4096
/** Maximum number of bytes of an answer: over ten minutes of 24 kHz. */
const maxBytes = 33_554_432

/** Voice behind OpenAI's `POST /audio/speech`, as PCM that streams; also Kokoro-FastAPI and speaches. */
export class OpenAiSpeech implements AgentVoice {
  readonly name: string
  readonly #options: OpenAiSpeechOptions
  readonly #http: StreamingHttp
  readonly #clock: Clock
  readonly #running = new Set<Deadline>()

  constructor(options: OpenAiSpeechOptions, http: StreamingHttp, clock: Clock) {
    this.name = options.name
    this.#options = options
    this.#http = http
    this.#clock = clock
  }

  speak(text: string, options: SpeakOptions, listener: SpeechListener): Utterance {
    const deadline = new Deadline(this.#clock)
    deadline.set(this.#options.firstAudioMs ?? 5000, 'no audio was received')
    let isOver = false
    const over = (report: () => void) => {
      if (isOver) return
      isOver = true
      this.#running.delete(deadline)
      deadline.clear()
      report()
    }
    this.#running.add(deadline)
    const hear = (samples: Int16Array) => !isOver && samples.length > 0 && listener.onAudio(samples)
    void this.#stream(text, options, deadline, hear).then(
      () => over(() => listener.onEnd()),
      (error) => over(() => listener.onFailure(engineErrorOf(error, deadline.signal))),
    )
    return {
      cancel: () =>
        over(() => {
          deadline.abort()
        }),
    }
  }

  async close(): Promise<void> {
    for (const deadline of this.#running) deadline.abort()
  }

  async #stream(
    text: string,
    options: SpeakOptions,
    deadline: Deadline,
    hear: (samples: Int16Array) => void,
  ): Promise<void> {
    const { url, format = 'pcm24000', audioMs = 3000 } = this.#options
    const body = JSON.stringify(this.#body(text, options))
    const response = await this.#http.post({ url, headers: this.#headers(), body }, deadline.signal)
    if (/json|text\//i.test(response.contentType))
      throw new EngineError('protocol', 'the server answered with text in place of audio')
    const samples = new WireDecoder(format, options.rate)
    let bytes = 0
    for await (const piece of response.body) {
      bytes += piece.length
      if (bytes > maxBytes) throw new EngineError('protocol', `the audio is longer than ${maxBytes} bytes`)
      deadline.set(audioMs, 'no further audio was received')
      hear(samples.decode(Buffer.from(piece)))
    }
    if (bytes === 0) throw new EngineError('protocol', 'the server answered without audio')
  }

  #body(text: string, { voice, settings }: SpeakOptions): Readonly<Record<string, unknown>> {
    const { model, extra } = this.#options
    return {
      // Settings come from documents, and replace neither the model nor the text.
      ...settings,
      model,
      input: text.slice(0, maxTextLength),
      voice: voice ?? this.#options.voice,
      ...extra,
      response_format: 'pcm',
    }
  }

  #headers(): Readonly<Record<string, string>> {
    const { key, headers } = this.#options
    return { 'content-type': 'application/json', ...(key && { authorization: `Bearer ${key}` }), ...headers }
  }
}
