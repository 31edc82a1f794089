import { randomUUID } from 'node:crypto'
import type { Timer } from '../../core/clock.ts'
import { errorFacts, type SocketCall, type SocketEngine } from '../stand.ts'
import { deepgramFormat, type RecognisedTurn, Recognition, timedWords } from './recognition.ts'

/** Time without audio and KeepAlive after which Deepgram closes, in ms. */
const idleMs = 10_000
/** Silence that ends an utterance if the client names none, in ms. */
const defaultEndpointMs = 10

/** Deepgram's streaming recogniser, version 1 (Nova). */
export const deepgramListen: SocketEngine = {
  name: 'deepgram-listen',
  serves: (path) => path === '/v1/listen',
  open: (call) => {
    const { searchParams } = call.url
    const format = deepgramFormat(
      searchParams.get('encoding') ?? undefined,
      searchParams.get('sample_rate') ?? undefined,
    )
    if (!format) return call.socket.close(1008, 'DATA-0000')
    new ListenSession(call, format)
  },
}

class ListenSession {
  readonly #call: SocketCall
  readonly #recognition: Recognition
  readonly #requestId = randomUUID()
  #idle: Timer | undefined
  /** End of the last word in ms, until UtteranceEnd reports it. */
  #lastWordMs: number | undefined

  constructor(call: SocketCall, format: NonNullable<ReturnType<typeof deepgramFormat>>) {
    this.#call = call
    const silenceMs = Math.max(20, Number(this.#option('endpointing') ?? defaultEndpointMs) || 10_000)
    this.#recognition = new Recognition(
      call,
      { engine: 'deepgram-listen', format, silenceMs },
      this.#protocol(),
    )
    call.socket.listen({
      onMessage: ({ type }) => this.#read(type),
      onAudio: (bytes) => this.#feed(bytes),
      onClosed: () => {
        this.#idle?.cancel()
        this.#recognition.close()
      },
    })
    this.#restartIdle()
  }

  #option(name: string): string | undefined {
    return this.#call.url.searchParams.get(name) ?? undefined
  }

  #protocol(): ConstructorParameters<typeof Recognition>[2] {
    const { socket } = this.#call
    return {
      onStarted: (atMs) => {
        this.#lastWordMs = undefined
        if (this.#option('vad_events') === 'true')
          socket.send({ type: 'SpeechStarted', channel: [0, 1], timestamp: atMs / 1000 })
      },
      onPartial: (text) => {
        const { nowMs } = this.#recognition.hearing
        if (this.#option('interim_results') === 'true')
          this.#results(text, { startMs: 0, endMs: nowMs }, false)
      },
      onFinal: (text, turn) => {
        this.#lastWordMs = turn.startMs + turn.speechMs
        this.#results(text, turn, true)
        // Audio that came at once may already contain the silence.
        this.#checkUtterance()
      },
      error: (kind) => socket.close(kind === 'server' ? 1011 : 1008, errorFacts[kind].code),
    }
  }

  #results(
    text: string,
    turn: Pick<RecognisedTurn, 'startMs' | 'endMs'> & { readonly speechMs?: number },
    isFinal: boolean,
    isFinalize = false,
  ): void {
    const { startMs, endMs, speechMs = endMs - startMs } = turn
    const words = timedWords(text, startMs, speechMs).map((word) => ({
      ...word,
      word: word.word.toLowerCase().replace(/[.,!?]/g, ''),
      punctuated_word: word.word,
      confidence: 0.99,
    }))
    this.#call.socket.send({
      type: 'Results',
      channel_index: [0, 1],
      start: startMs / 1000,
      duration: (endMs - startMs) / 1000,
      is_final: isFinal,
      speech_final: isFinal && !isFinalize,
      from_finalize: isFinalize,
      channel: { alternatives: [{ transcript: text, confidence: text === '' ? 0 : 0.99, words }] },
      metadata: {
        request_id: this.#requestId,
        model_info: { name: 'stand-in', version: '1', arch: 'stand-in' },
        model_uuid: this.#requestId,
      },
    })
  }

  #feed(bytes: Buffer): void {
    this.#restartIdle()
    this.#recognition.feed(bytes)
    this.#checkUtterance()
  }

  /** Reports the end of the words, when the silence after them is long enough. */
  #checkUtterance(): void {
    const limit = Number(this.#option('utterance_end_ms') ?? Number.NaN)
    const { nowMs } = this.#recognition.hearing
    if (this.#lastWordMs === undefined || !(nowMs - this.#lastWordMs >= limit)) return
    const end = this.#lastWordMs / 1000
    this.#call.socket.send({ type: 'UtteranceEnd', channel: [0, 1], last_word_end: end })
    this.#lastWordMs = undefined
  }

  #read(type: unknown): void {
    this.#restartIdle()
    if (type === 'Finalize') void this.#finalize()
    if (type === 'CloseStream') void this.#close()
  }

  async #finalize(): Promise<void> {
    const { nowMs } = this.#recognition.hearing
    const spoke = await this.#recognition.end()
    if (!spoke) this.#results('', { startMs: nowMs, endMs: nowMs }, true, true)
  }

  async #close(): Promise<void> {
    await this.#recognition.end()
    const { socket } = this.#call
    socket.send({
      type: 'Metadata',
      transaction_key: 'deprecated',
      request_id: this.#requestId,
      sha256: '',
      created: new Date(this.#call.stand.clock.now()).toISOString(),
      duration: this.#recognition.hearing.nowMs / 1000,
      channels: 1,
    })
    socket.close(1000)
  }

  #restartIdle(): void {
    this.#idle?.cancel()
    this.#idle = this.#call.stand.clock.after(idleMs, () => this.#call.socket.close(1011, 'NET-0001'))
  }
}
