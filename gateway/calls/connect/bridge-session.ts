import type { Call, CallerListener } from '../call/call.ts'
import type { Bridge, Bridges } from '../leg/bridges.ts'
import type { Leg } from '../leg/leg.ts'

/** What the caller of a pair does, besides what the pair itself takes care of. */
export type BridgeSessionListener = Pick<CallerListener, 'digit' | 'referred'>

/** The caller of a call and whom it hears: joined, but while either of them holds. */
export class BridgeSession {
  #bridges: Bridges
  #call: Call
  #listener: BridgeSessionListener
  #partner: Leg | undefined
  #bridge: Bridge | undefined
  /** Who were told of each other. */
  #told: readonly [Leg, Leg] | undefined

  constructor(bridges: Bridges, call: Call, listener: BridgeSessionListener) {
    this.#bridges = bridges
    this.#call = call
    this.#listener = listener
  }

  /** Whom the caller hears; undefined: nobody. */
  get partner(): Leg | undefined {
    return this.#partner
  }

  /** From now on the caller hears this leg, and is heard by it. */
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

  /** Joins the pair, or parts it while either of them holds; to be called after whatever may have changed that. */
  patch(): void {
    const { caller } = this.#call
    const leg = this.#partner
    this.#tell()
    // A caller whose INVITE had no offer has no audio before the ACK of its answer (RFC 3264 section 4).
    const both = leg && !leg.isEnded && !leg.isHeld && !caller.isHeld && caller.port && leg.port
    if (both && this.#bridge?.a === caller && this.#bridge.b === leg) return
    this.#bridge?.close()
    this.#bridge = both ? this.#bridges.join(caller, leg) : undefined
  }

  /** Idempotent. */
  part(): void {
    this.#bridge?.close()
    this.#bridge = undefined
    this.#partner = undefined
    this.#tell()
    this.#call.listen(undefined)
  }

  /** The two learn of each other once there is somebody to talk to: an announcement before an answer is nobody. */
  #tell(): void {
    const { caller } = this.#call
    const partner = this.#partner
    const pair = partner?.isAnswered ? ([caller, partner] as const) : undefined
    const told = this.#told ?? []
    for (const [at, leg] of told.entries()) if (!pair?.includes(leg)) leg.paired(undefined, told[1 - at])
    this.#told = pair
    if (!pair) return
    pair[0].paired(pair[1])
    pair[1].paired(pair[0])
  }
}
