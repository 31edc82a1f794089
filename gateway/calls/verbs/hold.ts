import { CallEnded, type HoldOptions } from '../../../handlers/verbs.ts'
import type { MediaPort } from '../../../media/types.ts'
import { holdMusic, type Playable, type Player, type Playing } from '../audio/player.ts'
import type { Call } from '../call/call.ts'
import type { Leg } from '../leg/leg.ts'

/**
 * Hold of one call's caller by a verb. The caller's audio is parted ({@link Leg.isHeld}), and both sides hear
 * music. The hold ends by {@link end}, when another leg becomes the caller, and with the call.
 */
export class Hold {
  #player: Player
  #call: Call
  #held: { readonly leg: Leg; readonly music: readonly Playable[] } | undefined
  #playing = new Map<Leg, Playing>()

  constructor(player: Player, call: Call) {
    this.#player = player
    this.#call = call
    call.onPartiesChanged(() => this.#refresh())
    call.signal.addEventListener('abort', () => this.end(), { once: true })
  }

  /**
   * Answers and holds the caller, and stops the sound that the caller hears. For a held caller, changes the
   * music.
   */
  async begin({ music }: HoldOptions): Promise<void> {
    const port = await this.#call.openAudio(true)
    if (this.#call.signal.aborted) throw new CallEnded()
    this.#held = { leg: this.#call.caller, music: music && music.length > 0 ? music : [holdMusic] }
    this.#stopMusic()
    this.#player.playing(port)?.stop()
    this.#held.leg.hold(true, 'us')
    this.#refresh()
  }

  /** Ends the hold. Idempotent. */
  end(): void {
    const leg = this.#held?.leg
    this.#held = undefined
    this.#stopMusic()
    leg?.hold(false, 'us')
  }

  /** Starts the music for both parties, and stops it for a party that has left. */
  #refresh(): void {
    if (!this.#held) return
    const { caller, partner } = this.#call
    if (caller !== this.#held.leg) {
      this.end()
      return
    }
    for (const [leg, playing] of this.#playing) {
      if (leg === caller || leg === partner) continue
      this.#playing.delete(leg)
      playing.stop()
    }
    for (const leg of partner ? [caller, partner] : [caller]) this.#play(leg, this.#held.music)
  }

  #play(leg: Leg, music: readonly Playable[]): void {
    const { port } = leg
    if (!port || leg.isEnded || this.#playing.has(leg) || this.#resumeAfter(port)) return
    const playing = this.#player.start(port, music, { loop: 0, customer: this.#call.info.projectId })
    this.#playing.set(leg, playing)
    const isCurrent = () => this.#playing.get(leg) === playing && this.#playing.delete(leg)
    playing.done.then(
      () => isCurrent() && this.#resumeAfter(port),
      (error) => {
        this.#call.log.warn({ event: 'call.hold-music-failed', reason: String(error) }, 'hold music failed')
        if (isCurrent() && music[0] !== holdMusic) this.#play(leg, [holdMusic])
      },
    )
  }

  /** Resumes the music after another sound that is being played. Returns false without one. */
  #resumeAfter(port: MediaPort): boolean {
    const other = this.#player.playing(port)
    const again = () => this.#refresh()
    other?.done.then(again, again)
    return other !== undefined
  }

  #stopMusic(): void {
    for (const playing of this.#playing.values()) playing.stop()
    this.#playing.clear()
  }
}
