import { CallEnded, type CallPlayback, type PlayEnd, type PlayOptions } from '../../../handlers/verbs.ts'
import type { Player, Playing } from '../audio/player.ts'
import type { Call } from '../call/call.ts'
import { failureOf } from '../leg/failures.ts'
import type { PlayState } from '../leg/leg-signalling.ts'

/** Plays a document's sounds to one call's caller. */
export class CallPlaybacks {
  #player: Player
  #call: Call

  constructor(player: Player, call: Call) {
    this.#player = player
    this.#call = call
  }

  /**
   * Starts a playback. Rejects if the call ends first or the signal fires. A sound that fails is reported by
   * the playback.
   */
  async start(id: string, options: PlayOptions): Promise<CallPlayback> {
    const playing = await this.#begin(options)
    const { caller } = this.#call
    caller.plays(id, 'playing')
    let isOver = false
    const report = (state: PlayState) => {
      if (!isOver) caller.plays(id, state)
    }
    const ended = this.#ended(playing, options.signal).then((end) => {
      report('finished')
      isOver = true
      return end
    })
    return {
      id,
      ended,
      pause: () => {
        playing.pause()
        report('paused')
      },
      resume: () => {
        playing.resume()
        report('playing')
      },
      stop: () => playing.stop(),
      setVolume: (db) => playing.setVolume(db),
    }
  }

  async #begin({ sounds, loop, volumeDb, autoAnswer = true, signal }: PlayOptions): Promise<Playing> {
    const player = this.#player
    const { caller, signal: callSignal, info, log } = this.#call
    const customer = info.projectId
    const warn = (reason: string) =>
      log.warn({ event: 'call.sound-changed', reason }, 'sound not played as requested')
    const first = player.prepareFirst(sounds, { port: caller.port, customer, signal: callSignal, warn })
    try {
      // More ringing is better than silence after the answer. A sound that fails is reported by the playback.
      const ready = Promise.allSettled([first?.prompt])
      if (!caller.isAnswered) await this.#call.whileUp(ready, signal)
      const port = await this.#call.openAudio(autoAnswer, signal)
      return player.start(port, sounds, { loop, volumeDb, customer, warn, ...(first && { first }) })
    } catch (error) {
      first?.giveUp()
      throw error
    }
  }

  async #ended(playing: Playing, signal: AbortSignal | undefined): Promise<PlayEnd> {
    try {
      return { kind: await this.#call.whileUp(playing.done, signal) }
    } catch (error) {
      playing.stop()
      if (error instanceof CallEnded || signal?.aborted) return { kind: 'stopped' }
      const { code, message } = failureOf(error, 'sound_failed')
      this.#call.log.warn({ event: 'call.sound-failed', code, reason: message }, 'sound not played')
      return { kind: 'failed', code, reason: message }
    }
  }
}
