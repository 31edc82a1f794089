import { sendPaced } from '../pace.ts'
import { type InjectedQuirk, type Performer, perform, type Speech } from '../perform.ts'
import type { EngineName, ErrorKind, QuirkName } from '../script-types.ts'
import type { SoundRate } from '../sound-store.ts'
import { partAnswer, type SocketCall } from '../stand.ts'

/** Messages of a voice for the speech of a text. */
export interface VoiceProtocol {
  /** `at` is the position of the first sample, `count` the number of all samples of the text. */
  onAudio(samples: Int16Array, text: string, at: number, count: number): void
  error(kind: ErrorKind): void
}

/** Voice of one connection: speaks texts one after the other. */
export class VoiceRun {
  readonly #call: SocketCall
  readonly #engine: EngineName
  readonly #rate: SoundRate
  readonly #protocol: VoiceProtocol
  readonly #quirks = new Set<QuirkName>()
  #speaking = new AbortController()
  #run = Promise.resolve()
  #turn = 0

  constructor(call: SocketCall, engine: EngineName, rate: SoundRate, protocol: VoiceProtocol) {
    this.#call = call
    this.#engine = engine
    this.#rate = rate
    this.#protocol = protocol
  }

  /** Speaks a text after those before it. Empty texts are skipped. */
  speak(text: string): void {
    if (text.trim() === '') return
    const { signal } = this.#speaking
    const answer = partAnswer(this.#call.stand, this.#engine, { turn: ++this.#turn, text })
    this.#run = this.#run
      .then(() => perform(answer, this.#performer(), this.#call.stand, signal))
      .catch(() => this.#protocol.error('server'))
  }

  /** Runs after the texts so far, unless they are cleared. */
  afterwards(run: () => void): void {
    const { signal } = this.#speaking
    this.#run = this.#run.then(() => {
      if (!signal.aborted) run()
    })
  }

  /** Drops all texts. */
  clear(): void {
    this.#speaking.abort()
    this.#speaking = new AbortController()
  }

  #performer(): Performer {
    const { socket } = this.#call
    return {
      quirks: this.#quirks,
      say: (speech, signal) => this.#say(speech, signal),
      call: () => {},
      inject: (quirk: InjectedQuirk) => {
        if (quirk === 'malformed') socket.sendText('{"audio":', quirk)
        if (quirk === 'unknown') socket.send({ type: 'stand_in.unknown' })
        if (quirk === 'huge') socket.send({ type: 'stand_in.huge', text: 'a'.repeat(10 * 1024 * 1024) })
      },
      error: (kind) => this.#protocol.error(kind),
      close: (how) => socket.close(how),
      stall: () => socket.stall(),
    }
  }

  async #say(speech: Speech, signal: AbortSignal): Promise<void> {
    const rate = this.#rate
    const samples = await speech.samples(rate)
    if (signal.aborted) return
    const { clock } = this.#call.stand
    let at = 0
    await sendPaced({ samples, rate, speech, clock, signal }, (part) => {
      this.#protocol.onAudio(part, speech.text, at, samples.length)
      at += part.length
    })
  }
}
