import { CallEnded, type HoldOptions } from '../../../handlers/verbs.ts'
import type { MediaPort } from '../../../media/types.ts'
import type { Log } from '../../core/log.ts'
import type { Leg } from '../leg/leg.ts'
import { holdMusic, type Playable, type Player, type Playing } from '../verbs/player.ts'
import type { Call } from './call.ts'

/** What holding works with. */
export interface HoldDeps {
  readonly player: Player
  readonly log: Log
}

/**
 * One call's caller on hold by a verb: whoever joins the caller's audio parts it ({@link Leg.isHeld}), and both sides hear music. It ends
 * with the verb, when the call has another caller, and with the call.
 */
export class Hold {
  #parts: HoldDeps
  #call: Call
  #held: { readonly leg: Leg; readonly music: readonly Playable[] } | undefined
  #playing = new Map<Leg, Playing>()

  constructor(parts: HoldDeps, call: Call) {
    this.#parts = parts
    this.#call = call
    call.onPartiesChanged(() => this.#refresh())
    call.signal.addEventListener('abort', () => this.end(), { once: true })
  }

  /** Holds the caller, answering first, in place of what it hears; of one that is held it changes the music. */
  async begin({ music }: HoldOptions): Promise<void> {
    const port = await this.#call.openAudio(true)
    if (this.#call.signal.aborted) throw new CallEnded()
    this.#held = { leg: this.#call.caller, music: music && music.length > 0 ? music : [holdMusic] }
    this.#stopMusic()
    this.#parts.player.playing(port)?.stop()
    this.#held.leg.hold(true, 'us')
    this.#refresh()
  }

  /** Harmless when nobody is held. */
  end(): void {
    const leg = this.#held?.leg
    this.#held = undefined
    this.#stopMusic()
    leg?.hold(false, 'us')
  }

  /** Lets music be heard where it is not, and stops it for who has left. */
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
    const { player, log } = this.#parts
    const { port } = leg
    if (!port || leg.isEnded || this.#playing.has(leg) || this.#after(port)) return
    const playing = player.start(port, music, { loop: 0, customer: this.#call.info.projectId })
    this.#playing.set(leg, playing)
    const mine = () => this.#playing.get(leg) === playing && this.#playing.delete(leg)
    playing.done.then(
      () => mine() && this.#after(port),
      (error) => {
        log.warn({ reason: String(error) }, 'hold music cannot be played')
        if (mine() && music[0] !== holdMusic) this.#play(leg, [holdMusic])
      },
    )
  }

  /** Another sound goes before: the music goes on after it. False where there is none. */
  #after(port: MediaPort): boolean {
    const other = this.#parts.player.playing(port)
    const again = () => this.#refresh()
    other?.done.then(again, again)
    return other !== undefined
  }

  #stopMusic(): void {
    for (const playing of this.#playing.values()) playing.stop()
    this.#playing.clear()
  }
}
