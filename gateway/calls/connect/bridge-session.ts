import type { Call, CallerListener } from '../call/call.ts'
import type { Bridge, Bridges } from '../leg/bridges.ts'
import type { Leg } from '../leg/leg.ts'

/** Receives the digits and transfers of the caller of a pair. */
export type BridgeSessionListener = Pick<CallerListener, 'digit' | 'referred'>

/** The caller of a call and its partner: their audio is joined while neither of them holds. */
export class BridgeSession {
  #bridges: Bridges
  #call: Call
  #listener: BridgeSessionListener
  #partner: Leg | undefined
  #bridge: Bridge | undefined
  /** Legs that were announced to each other as partners. */
  #announced: readonly [Leg, Leg] | undefined

  constructor(bridges: Bridges, call: Call, listener: BridgeSessionListener) {
    this.#bridges = bridges
    this.#call = call
    this.#listener = listener
  }

  /** Leg that the caller hears. */
  get partner(): Leg | undefined {
    return this.#partner
  }

  /** Makes a leg the caller's partner. */
  pair(leg: Leg): void {
    this.#partner = leg
    this.#call.listen({
      ...this.#listener,
      partner: leg,
      held: () => this.patch(),
      replaced: () => this.patch(),
    })
    this.patch()
  }

  /**
   * Joins the pair, or parts it while either of them holds. Must run after each change of a hold or a port.
   */
  patch(): void {
    const { caller } = this.#call
    const leg = this.#partner
    this.#announce()
    // A caller whose INVITE had no offer has no audio before the ACK of its answer (RFC 3264 section 4).
    const both = leg && !leg.isEnded && !leg.isHeld && !caller.isHeld && caller.port && leg.port
    if (both && this.#bridge?.a === caller && this.#bridge.b === leg) return
    this.#bridge?.close()
    this.#bridge = both ? this.#bridges.join(caller, leg) : undefined
  }

  /** Parts the pair. Idempotent. */
  part(): void {
    this.#bridge?.close()
    this.#bridge = undefined
    this.#partner = undefined
    this.#announce()
    this.#call.listen(undefined)
  }

  /**
   * Announces the two legs to each other once the partner has answered. Early media, such as an announcement,
   * is no party.
   */
  #announce(): void {
    const { caller } = this.#call
    const partner = this.#partner
    const pair = partner?.isAnswered ? ([caller, partner] as const) : undefined
    const announced = this.#announced ?? []
    for (const [at, leg] of announced.entries())
      if (!pair?.includes(leg)) leg.paired(undefined, announced[1 - at])
    this.#announced = pair
    if (!pair) return
    pair[0].paired(pair[1])
    pair[1].paired(pair[0])
  }
}
