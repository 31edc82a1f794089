import { CallEnded, type CallPlayback, type PlayEnd, type PlayOptions } from '../../../handlers/verbs.ts'
import type { Log } from '../../core/log.ts'
import type { Call } from '../call/call.ts'
import { failureOf } from '../leg/failures.ts'
import type { PlayState } from '../leg/leg-signalling.ts'
import type { Player, Playing } from './player.ts'

/** What the sounds of a call are played with. */
export interface CallPlaybacksDeps {
  readonly player: Player
  readonly log: Log
}

/** Plays what documents name to one call's caller. */
export class CallPlaybacks {
  #parts: CallPlaybacksDeps
  #call: Call

  constructor(parts: CallPlaybacksDeps, call: Call) {
    this.#parts = parts
    this.#call = call
  }

  /** Begins. Rejects when the call ends first, or the signal fires; a sound that cannot be had is told by the playback. */
  async start(id: string, options: PlayOptions): Promise<CallPlayback> {
    const playing = await this.#begin(options)
    const { caller } = this.#call
    caller.plays(id, 'playing')
    let over = false
    const tell = (state: PlayState) => {
      if (!over) caller.plays(id, state)
    }
    const ended = this.#ended(playing, options.signal).then((end) => {
      tell('finished')
      over = true
      return end
    })
    return {
      id,
      ended,
      pause: () => {
        playing.pause()
        tell('paused')
      },
      resume: () => {
        playing.resume()
        tell('playing')
      },
      stop: () => playing.stop(),
      setVolume: (db) => playing.setVolume(db),
    }
  }

  async #begin({ sounds, loop, volumeDb, autoAnswer = true, signal }: PlayOptions): Promise<Playing> {
    const { player, log } = this.#parts
    const { caller, signal: over, info } = this.#call
    const customer = info.projectId
    const warn = (reason: string) => log.warn({ reason }, 'a sound is not played as it was asked for')
    const first = player.prepareFirst(sounds, { port: caller.port, customer, signal: over, warn })
    try {
      // Better a moment more of ringing than silence after the answer. A sound that fails is told by the playing.
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
      this.#parts.log.warn({ code, reason: message }, 'a sound could not be played')
      return { kind: 'failed', code, reason: message }
    }
  }
}
