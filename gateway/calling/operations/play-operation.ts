import type { CallPlayback, PlayOptions } from '../../../handlers/verbs.ts'
import { type ClientQuirks, failureCode, type Operation, type OperationCall } from './operation-types.ts'

/** `calling.play`: states playing, paused, finished and error. */
export class PlayOperation implements Operation {
  readonly kind = 'play'
  readonly #call: OperationCall
  readonly #id: string
  readonly #options: PlayOptions
  readonly #quirks: ClientQuirks
  readonly #abort = new AbortController()
  #playback: Promise<CallPlayback> | undefined

  constructor(call: OperationCall, id: string, options: PlayOptions, quirks: ClientQuirks) {
    this.#call = call
    this.#id = id
    this.#options = options
    this.#quirks = quirks
  }

  async run(): Promise<void> {
    this.#playback = this.#call.control.startPlay({ ...this.#options, signal: this.#abort.signal })
    try {
      const playback = await this.#playback
      this.#send('playing')
      const end = await playback.ended
      if (end.kind === 'failed') this.#send(this.#quirks.reportsSuccessOnly ? 'finished' : 'error', end.code)
      else this.#send('finished')
    } catch (error) {
      // The client waits for `playing` or `error`: `finished` alone would leave it waiting.
      this.#send('error', failureCode(error))
    }
  }

  stop(): void {
    this.#abort.abort()
    this.#with((playback) => playback.stop())
  }

  pause(): void {
    this.#with((playback) => {
      playback.pause()
      this.#send('paused')
    })
  }

  resume(): void {
    this.#with((playback) => {
      playback.resume()
      this.#send('playing')
    })
  }

  setVolume(db: number): void {
    this.#with((playback) => playback.setVolume(db))
  }

  #with(what: (playback: CallPlayback) => void): void {
    this.#playback?.then(what, () => {})
  }

  #send(state: string, code?: string): void {
    this.#call.sendEvent('calling.call.play', { control_id: this.#id, state, ...(code && { error: code }) })
  }
}
