import { randomUUID } from 'node:crypto'
import { isJsonObject } from '../../core/json.ts'
import { errorFacts, type SocketCall, type SocketEngine } from '../stand.ts'
import { deepgramFormat, Recognition, timedWords } from './recognition.ts'

/** Silence that ends a turn in place of the model's decision, in ms. */
const silenceMs = 400
/** Silence after which the turn has probably ended, in ms. */
const eagerMs = 200

/** Deepgram's recogniser with end of turn, version 2 (Flux). */
export const deepgramFlux: SocketEngine = {
  name: 'deepgram-flux',
  serves: (path) => path === '/v2/listen',
  open: (call) => {
    const { searchParams } = call.url
    const format = deepgramFormat(
      searchParams.get('encoding') ?? undefined,
      searchParams.get('sample_rate') ?? undefined,
    )
    if (!format || !searchParams.get('model')?.startsWith('flux'))
      return call.socket.close(1008, 'INVALID_QUERY')
    new FluxSession(call, format)
  },
}

class FluxSession {
  readonly #call: SocketCall
  readonly #recognition: Recognition
  readonly #requestId = randomUUID()
  #sequence = 0
  #turnStartMs = 0
  #isForced = false

  constructor(call: SocketCall, format: NonNullable<ReturnType<typeof deepgramFormat>>) {
    this.#call = call
    const isEager = call.url.searchParams.has('eager_eot_threshold')
    const options = { engine: 'deepgram-flux', format, silenceMs, ...(isEager && { eagerMs }) } as const
    this.#recognition = new Recognition(call, options, {
      onStarted: (atMs, index) => {
        this.#turnStartMs = atMs
        this.#turn('StartOfTurn', '', index, 0.1)
      },
      onPartial: (text, index) => this.#turn('Update', text, index, 0.2),
      onEager: (text, index) => this.#turn('EagerEndOfTurn', text, index, 0.6),
      onResumed: (index) => this.#turn('TurnResumed', '', index, 0.2),
      onFinal: (text, { index }) => this.#turn('EndOfTurn', text, index, 0.9),
      error: (kind) => {
        const { code, text } = errorFacts[kind]
        this.#send({ type: 'Error', code: code.toUpperCase(), description: text })
        call.socket.close(1011)
      },
    })
    call.socket.listen({
      onMessage: (message) => this.#read(message),
      onAudio: (bytes) => this.#recognition.feed(bytes),
      onClosed: () => this.#recognition.close(),
    })
    this.#send({ type: 'Connected' })
  }

  #read({ type, thresholds, keyterms }: Record<string, unknown>): void {
    if (type === 'ForceEndTurn') void this.#force()
    if (type === 'CloseStream') void this.#recognition.end().then(() => this.#call.socket.close(1000))
    if (type === 'Configure')
      this.#send({
        type: 'ConfigureSuccess',
        thresholds: isJsonObject(thresholds) ? thresholds : {},
        keyterms: Array.isArray(keyterms) ? keyterms : [],
      })
  }

  async #force(): Promise<void> {
    this.#isForced = true
    await this.#recognition.end()
    this.#isForced = false
  }

  #turn(event: string, text: string, index: number, confidence: number): void {
    const { nowMs } = this.#recognition?.hearing ?? { nowMs: 0 }
    const words = timedWords(text, this.#turnStartMs, nowMs - this.#turnStartMs)
    this.#send({
      type: 'TurnInfo',
      event,
      turn_index: index,
      audio_window_start: this.#turnStartMs / 1000,
      audio_window_end: nowMs / 1000,
      transcript: text,
      words: words.map((word) => ({ ...word, confidence: 0.99 })),
      end_of_turn_confidence: confidence,
      ...(event === 'EndOfTurn' && { trigger: this.#isForced ? 'manual' : 'model' }),
    })
  }

  #send(message: Readonly<Record<string, unknown>> & { readonly type: string }): void {
    this.#call.socket.send({ request_id: this.#requestId, sequence_id: this.#sequence++, ...message })
  }
}
