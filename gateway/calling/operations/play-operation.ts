import type { CallPlayback, PlayOptions } from '../../../handlers/verbs.ts'
import { type ClientQuirks, failureCode, type OperationCall } from './operation-types.ts'
import { VerbOperation } from './verb-operation.ts'

/** `calling.play`: states playing, paused, finished and error. */
export class PlayOperation extends VerbOperation<CallPlayback> {
  readonly kind = 'play'
  readonly #options: PlayOptions
  readonly #quirks: ClientQuirks

  constructor(call: OperationCall, id: string, options: PlayOptions, quirks: ClientQuirks) {
    super(call, id)
    this.#options = options
    this.#quirks = quirks
  }

  async run(): Promise<void> {
    this.running = this.call.control.startPlay({ ...this.#options, signal: this.abort.signal })
    try {
      const playback = await this.running
      this.#send('playing')
      const end = await playback.ended
      if (end.kind === 'failed') this.#send(this.#quirks.reportsSuccessOnly ? 'finished' : 'error', end.code)
      else this.#send('finished')
    } catch (error) {
      // The client waits for `playing` or `error`: `finished` alone would leave it waiting.
      this.#send('error', failureCode(error))
    }
  }

  override stop(): void {
    super.stop()
    this.withRunning((playback) => playback.stop())
  }

  pause(): void {
    this.withRunning((playback) => {
      playback.pause()
      this.#send('paused')
    })
  }

  resume(): void {
    this.withRunning((playback) => {
      playback.resume()
      this.#send('playing')
    })
  }

  setVolume(db: number): void {
    this.withRunning((playback) => playback.setVolume(db))
  }

  #send(state: string, code?: string): void {
    this.sendEvent('play', { state, ...(code && { error: code }) })
  }
}
