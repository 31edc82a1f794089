import { isJsonObject } from '../../core/json.ts'
import { soundRateOf } from '../sound-store.ts'
import type { SocketCall, SocketEngine } from '../stand.ts'
import { type RecognisedTurn, Recognition, timedWords } from './recognition.ts'

/** Silence after which Vosk ends an utterance, in ms. */
const silenceMs = 500

/** Recogniser with the protocol of vosk-server. */
export const vosk: SocketEngine = {
  name: 'vosk',
  serves: (path) => path === '/vosk' || path === '/',
  open: (call) => new VoskSession(call),
}

class VoskSession {
  readonly #call: SocketCall
  #recognition: Recognition | undefined
  #rate = 8000

  constructor(call: SocketCall) {
    this.#call = call
    call.socket.listen({
      onMessage: (message) => this.#read(message),
      onAudio: (bytes) => {
        this.#recognition ??= this.#start()
        this.#recognition.feed(bytes)
      },
      onClosed: () => this.#recognition?.close(),
    })
  }

  #read({ config, eof }: Record<string, unknown>): void {
    if (isJsonObject(config) && typeof config.sample_rate === 'number') this.#rate = config.sample_rate
    if (eof !== undefined) void this.#end()
  }

  #start(): Recognition {
    const { socket } = this.#call
    const rate = soundRateOf(this.#rate) ?? 8000
    const options = { engine: 'vosk', format: { coding: 'pcm', rate }, silenceMs } as const
    return new Recognition(this.#call, options, {
      onPartial: (partial) => socket.send({ partial }),
      onFinal: (text, turn) => socket.send(resultOf(text, turn)),
      error: () => socket.close(1011),
    })
  }

  async #end(): Promise<void> {
    const spoke = await this.#recognition?.end()
    if (spoke !== true) this.#call.socket.send({ text: '' })
    this.#call.socket.close(1000)
  }
}

const resultOf = (text: string, { startMs, speechMs }: RecognisedTurn): object => ({
  result: timedWords(text, startMs, speechMs).map((word) => ({ conf: 1, ...word })),
  text,
})
