import type { Call, CallerListener } from '../call/call.ts'
import type { Bridge, Bridges } from '../leg/bridges.ts'
import type { Leg } from '../leg/leg.ts'
import type { PartyMix } from './party-mix.ts'

/** Receives the digits and transfers of the caller of a pair. */
export type BridgeSessionListener = Pick<CallerListener, 'digit' | 'referred' | 'adds' | 'left'>

/** The caller of a call and its partner: their audio is joined while neither of them holds. */
export class BridgeSession {
  #bridges: Bridges
  #call: Call
  #listener: BridgeSessionListener
  #partner: Leg | undefined
  #bridge: Bridge | undefined
  /** Legs that were announced to each other as partners. */
  #announced: readonly [Leg, Leg] | undefined
  readonly #mix: Pick<PartyMix, 'update'>
  /** Further parties of the call. */
  #others: readonly Leg[] = []
  /** Legs that have received the further parties. */
  #gathered = new Set<Leg>()

  constructor(bridges: Bridges, mix: Pick<PartyMix, 'update'>, call: Call, listener: BridgeSessionListener) {
    this.#bridges = bridges
    this.#mix = mix
    this.#call = call
    this.#listener = listener
  }

  /** Leg that the caller hears. */
  get partner(): Leg | undefined {
    return this.#partner
  }

  /** Makes a leg the caller's partner. `others`: further parties; default the present ones. */
  pair(leg: Leg, others = this.#others): void {
    this.#partner = leg
    this.#others = others
    this.#call.listen({
      ...this.#listener,
      partner: leg,
      held: () => this.patch(),
      replaced: () => this.patch(),
    })
    this.patch()
  }

  /** Sets the further parties, who hear the pair and each other. */
  gather(others: readonly Leg[]): void {
    this.#others = others
    if (this.#partner) this.patch()
  }

  /**
   * Joins the pair, or parts it while either of them holds. Must run after each change of a hold or a port.
   */
  patch(): void {
    const { caller } = this.#call
    const leg = this.#partner
    this.#announce()
    const others = leg ? this.#others : []
    this.#report(leg ? [caller, leg, ...others] : [])
    if (others.length > 0 && leg) {
      this.#bridge?.close()
      this.#bridge = undefined
      this.#mix.update([caller, leg, ...others].filter((each) => !each.isEnded && !each.isHeld))
      return
    }
    this.#mix.update([])
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
    this.#mix.update([])
    this.#report([])
    this.#announce()
    this.#call.listen(undefined)
  }

  /** Reports the parties beside the own partner to each leg, if there are more than two. */
  #report(parties: readonly Leg[]): void {
    const legs = parties.length > 2 ? parties : []
    for (const leg of this.#gathered) if (!legs.includes(leg)) leg.gathered([])
    const [caller, partner] = legs
    for (const leg of legs) {
      const own = leg === caller ? partner : leg === partner ? caller : undefined
      leg.gathered(legs.filter((other) => other !== leg && other !== own))
    }
    this.#gathered = new Set(legs)
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
