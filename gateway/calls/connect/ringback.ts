import type { Sound } from '../../../handlers/verbs.ts'
import type { Player, Playing } from '../audio/player.ts'
import type { Call } from '../call/call.ts'
import type { Leg } from '../leg/leg.ts'
import type { BridgeSession } from './bridge-session.ts'

/** Collaborators and values of a {@link Ringback}. */
export interface RingbackDeps {
  readonly call: Call
  /** A caller with a partner needs no ringback. */
  readonly bridge: BridgeSession
  readonly player: Player
  /** Sounds in place of early media and of the ringing tone; default: early media, or else a ringing tone. */
  readonly sounds: readonly Sound[] | undefined
}

/** Sound for the caller while a callee rings: early media, or a tone. */
export class Ringback {
  #deps: RingbackDeps
  #playing: Playing | undefined
  /**
   * Whether the caller has heard early media. After early media a telephone makes no ringing tone of its own.
   */
  #isAudible = false
  #isClosed = false

  constructor(deps: RingbackDeps) {
    this.#deps = deps
  }

  /** Handles a leg that rings, with early media if `hasMedia`. */
  early(leg: Leg, hasMedia: boolean): void {
    this.#inBackground(hasMedia && !this.#deps.sounds && leg.port ? this.#earlyMedia(leg) : this.#ring())
  }

  /** Handles a leg that can no longer be heard; `hasOthers`: others still ring. */
  silent(leg: Leg, hasOthers: boolean): void {
    const { bridge } = this.#deps
    if (bridge.partner === leg) bridge.part()
    if (hasOthers) this.#inBackground(this.#ring())
  }

  /** Stops the tone. Idempotent. */
  stop(): void {
    this.#playing?.stop()
    this.#playing = undefined
  }

  /** Stops the tone for good. Idempotent. */
  close(): void {
    this.#isClosed = true
    this.stop()
  }

  get #isWanted(): boolean {
    return !this.#isClosed && !this.#playing && !this.#deps.bridge.partner
  }

  async #earlyMedia(leg: Leg): Promise<void> {
    const { call, bridge } = this.#deps
    await call.caller.progress()
    // A callee who has answered meanwhile must not be heard before its leg has won.
    if (this.#isClosed || bridge.partner || leg.state.kind !== 'early' || call.caller.isEnded) return
    this.#isAudible = true
    this.stop()
    bridge.pair(leg)
  }

  /** Reports ringing to the caller by a 180, and by a tone if the 180 alone makes no sound. Idempotent. */
  async #ring(): Promise<void> {
    const { call, player, sounds } = this.#deps
    const { caller, log } = call
    if (!this.#isWanted) return
    caller.ring()
    // A telephone makes its own ringing tone at a 180.
    if (!caller.isAnswered && caller.makesRingingTone && !sounds && !this.#isAudible) return
    await caller.progress()
    // The ringing may have ended while the audio was opened. A tone that started now would never be stopped.
    if (!caller.port || caller.isEnded || !this.#isWanted) return
    const warn = (reason: string) =>
      log.warn({ event: 'call.ringback-changed', reason }, 'ringback not played as requested')
    const customer = call.info.projectId
    const list = sounds ?? [{ kind: 'ringtone' }]
    this.#playing = player.start(caller.port, list, { loop: 0, customer, warn })
    this.#playing.done.catch((error) =>
      log.warn({ event: 'call.ringback-failed', err: error }, 'ringback failed'),
    )
  }

  /** Runs work whose failure costs the caller a sound at most. */
  #inBackground(work: Promise<void>): void {
    work.catch((error) =>
      this.#deps.call.log.error({ event: 'call.ringing-failed', err: error }, 'ringing not reported'),
    )
  }
}
