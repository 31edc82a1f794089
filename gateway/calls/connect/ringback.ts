import type { Sound } from '../../../handlers/verbs.ts'
import type { Log } from '../../core/log.ts'
import type { Call } from '../call/call.ts'
import type { Leg } from '../leg/leg.ts'
import type { Player, Playing } from '../verbs/player.ts'
import type { BridgeSession } from './bridge-session.ts'

/** What a ringback works with. */
export interface RingbackDeps {
  readonly call: Call
  /** Whom the caller hears, who needs no ringback then. */
  readonly bridge: BridgeSession
  readonly player: Player
  readonly log: Log
  /** Instead of early media and of a ringing tone; default those two. */
  readonly sounds: readonly Sound[] | undefined
}

/** What a caller hears while somebody rings: early media, or a tone. */
export class Ringback {
  #parts: RingbackDeps
  #playing: Playing | undefined
  /** The caller has heard early media, after which no telephone makes a tone of its own. */
  #audible = false
  #over = false

  constructor(parts: RingbackDeps) {
    this.#parts = parts
  }

  /** Somebody rings, with audio or without. */
  early(leg: Leg, media: boolean): void {
    this.#inBackground(media && !this.#parts.sounds && leg.port ? this.#earlyMedia(leg) : this.#ring())
  }

  /** A leg is not to be heard any more; `others` still ring. */
  silent(leg: Leg, others: boolean): void {
    const { bridge } = this.#parts
    if (bridge.partner === leg) bridge.part()
    if (others) this.#inBackground(this.#ring())
  }

  /** Ends the tone. Idempotent. */
  stop(): void {
    this.#playing?.stop()
    this.#playing = undefined
  }

  /** Ends it for good. Idempotent. */
  close(): void {
    this.#over = true
    this.stop()
  }

  get #wanted(): boolean {
    return !this.#over && !this.#playing && !this.#parts.bridge.partner
  }

  async #earlyMedia(leg: Leg): Promise<void> {
    const { call, bridge } = this.#parts
    await call.caller.progress()
    // Whoever has answered meanwhile is not to be heard before it is taken.
    if (this.#over || bridge.partner || leg.state.kind !== 'early' || call.caller.isEnded) return
    this.#audible = true
    this.stop()
    bridge.pair(leg)
  }

  /** The caller learns that it rings: by 180 where that is enough, else by a tone too. Harmless when it is told already. */
  async #ring(): Promise<void> {
    const { call, player, sounds, log } = this.#parts
    const { caller } = call
    if (!this.#wanted) return
    caller.ring()
    // A telephone makes its own ringing tone at a 180.
    if (!caller.isAnswered && caller.makesRingingTone && !sounds && !this.#audible) return
    await caller.progress()
    // Until the caller hears, much can have happened: a ringing tone that began now would never end.
    if (!caller.port || caller.isEnded || !this.#wanted) return
    const warn = (reason: string) => log.warn({ reason }, 'the ringback is not played as it was asked for')
    const customer = call.info.projectId
    const list = sounds ?? [{ kind: 'ringtone' }]
    this.#playing = player.start(caller.port, list, { loop: 0, customer, warn })
    this.#playing.done.catch((error) => log.warn({ err: error }, 'the ringback cannot be played'))
  }

  /** Nobody waits for it. What goes wrong in it costs the caller a sound, and never more than that. */
  #inBackground(work: Promise<void>): void {
    work.catch((error) => this.#parts.log.error({ err: error }, 'the caller could not be told that it rings'))
  }
}
