import { CallEnded, type ConnectOptions, type ConnectResult, type Destination } from '../../handlers/verbs.ts'
import type { Timer } from '../clock.ts'
import { type Cause, sipStatusOf } from '../errors.ts'
import { betterCause } from './best-cause.ts'
import type { Bridge } from './bridge.ts'
import type { Call } from './call.ts'
import { requestFor, targetsOf, transferTo } from './destinations.ts'
import { type HuntParts, MAX_DURATION_MS } from './hunt-parts.ts'
import type { Leg, LegOwner } from './leg.ts'
import { connected, failure } from './outcome.ts'
import type { Playing } from './player.ts'
import { type Referral, settled } from './referral.ts'

export type { HuntParts } from './hunt-parts.ts'

/** Outcome of {@link Hunt.run}; `cause` is the refusal that the caller is told. */
export type HuntOutcome = { readonly result: ConnectResult; readonly cause?: Cause }

/**
 * Finds somebody for the caller: tries the steps one after the other, rings the destinations of a step together, takes the first answer
 * and joins the two until one hangs up. It owns the legs that it makes.
 */
export class Hunt implements LegOwner {
  #parts: HuntParts
  #call: Call
  #options: ConnectOptions
  #ringing = new Map<Leg, Timer>()
  #winner: Leg | undefined
  /** Whom the caller hears: the winner, or before there is one, a leg with early media. */
  #partner: Leg | undefined
  /** The join of the two; none while either holds. */
  #bridge: Bridge | undefined
  #ringback: Playing | undefined
  /** A transfer that was asked for, and the leg that asked, which may well be gone already. */
  #transfer: { readonly referral: Referral; readonly referrer: Leg } | undefined
  #cause: Cause | undefined
  #over = false
  #stepDone: () => void = () => {}
  #talkDone: () => void = () => {}

  constructor(parts: HuntParts, call: Call, options: ConnectOptions) {
    this.#parts = parts
    this.#call = call
    this.#options = options
  }

  /** Rejects with `CallEnded` when the caller goes before anybody answered. */
  async run(): Promise<HuntOutcome> {
    const { caller } = this.#call
    try {
      if (!caller.isAnswered && !this.#options.answerOnBridge) await this.#call.whileUp(caller.answer())
      for (const step of this.#options.steps) {
        const winner = await this.#ring(step)
        if (winner) return { result: await this.#talk(winner) }
      }
      const cause = this.#cause ?? { code: 'unreachable' }
      return { result: failure(cause), cause }
    } finally {
      this.#release()
    }
  }

  legEarly(leg: Leg, media: boolean): void {
    if (this.#partner || this.#winner) return
    this.#transfer?.referral.progress(180)
    this.#inBackground(
      media && !this.#options.ringback && leg.port ? this.#earlyMedia(leg) : this.#ringCaller(),
    )
  }

  legAnswered(leg: Leg): void {
    if (this.#winner) {
      leg.end({ code: 'answered_elsewhere' })
      return
    }
    this.#winner = leg
    this.#stopRinging('answered_elsewhere')
    this.#stepDone()
  }

  /** A digit of the callee goes to the caller. */
  legDigit(leg: Leg, digit: string): void {
    if (this.#partner === leg) this.#inBackground(this.#call.caller.sendDigits(digit))
  }

  legHeld(): void {
    this.#patch()
  }

  /** Either of the two may ask, and the other one stays: it is the caller from now on. */
  legReferred(leg: Leg, referral: Referral): boolean {
    const { caller } = this.#call
    const winner = this.#winner
    if (!winner || this.#partner !== winner || !caller.isAnswered || this.#transfer) return false
    if (leg === caller) {
      this.#call.handOver(winner, this)
      this.#winner = caller
    }
    this.#transfer = { referral, referrer: leg }
    this.#talkDone()
    return true
  }

  legReplaced(leg: Leg, by: Leg): boolean {
    if (leg !== this.#winner || this.#partner !== leg) return false
    this.#call.adopt(by, this)
    this.#winner = by
    this.#pair(by)
    leg.end({ code: 'answered_elsewhere' })
    return true
  }

  legEnded(leg: Leg): void {
    // A transfer goes on without the one who asked for it.
    if (leg === this.#transfer?.referrer && leg !== this.#winner) return
    this.#ringing.get(leg)?.cancel()
    this.#ringing.delete(leg)
    if (leg === this.#winner) this.#talkDone()
    if (this.#winner) return
    if (this.#partner === leg) {
      this.#part()
      // Others that rang all the while were not heard beside its early media.
      if ([...this.#ringing.keys()].some((other) => other.state.kind === 'early'))
        this.#inBackground(this.#ringCaller())
    }
    if (leg.state.kind === 'ended') this.#failed(leg.state.cause)
    if (this.#ringing.size === 0) this.#stepDone()
  }

  /** Rings one step; undefined when nobody of it answered. */
  async #ring(step: readonly Destination[]): Promise<Leg | undefined> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const legs = step.flatMap((destination) => this.#dial(destination))
    this.#stepDone = resolve
    // A leg may be over before this point.
    if (legs.every((leg) => leg.isEnded)) resolve()
    await this.#call.whileUp(promise)
    return this.#winner
  }

  /** The legs to a destination: one, one for each place where an endpoint is registered, or none. */
  #dial(destination: Destination): Leg[] {
    const parts = this.#parts
    const request = requestFor(destination, this.#call)
    const targets = targetsOf(destination.to, parts)
    if ('code' in targets) {
      this.#failed(targets)
      parts.log.info({ code: targets.code, to: destination.to }, 'destination cannot be dialled')
      return []
    }
    const ms = destination.timeoutMs ?? this.#options.timeoutMs ?? parts.ringMs
    return targets.map((target) => {
      const leg =
        target.kind === 'sip' ? parts.sip.dial(target, request) : parts.subscribers.dial(target, request)
      this.#ringing.set(
        leg,
        parts.clock.after(ms, () => leg.end({ code: 'no_answer' })),
      )
      this.#call.adopt(leg, this)
      if (leg.isEnded) this.legEnded(leg)
      return leg
    })
  }

  #failed(cause: Cause): void {
    this.#cause = betterCause(this.#cause, cause)
  }

  /** The caller learns that it rings: by 180 where that is enough, else by a tone too. */
  async #ringCaller(): Promise<void> {
    const { caller } = this.#call
    if (this.#ringback || this.#winner || this.#over) return
    caller.ring()
    // A telephone makes its own ringing tone at a 180; a browser makes none.
    if (!caller.isAnswered && caller.kind === 'sip' && !this.#options.ringback) return
    await caller.progress()
    // Until the caller hears, much can have happened: a ringing tone that began now would never end.
    if (!caller.port || caller.isEnded || this.#ringback || this.#winner || this.#partner || this.#over)
      return
    const sounds = this.#options.ringback ?? [{ kind: 'ringtone' as const }]
    const warn = (reason: string) =>
      this.#parts.log.warn({ reason }, 'the ringback is not played as it was asked for')
    const customer = this.#call.info.projectId
    this.#ringback = this.#parts.player.start(caller.port, sounds, { loop: 0, customer, warn })
    this.#ringback.done.catch((error) =>
      this.#parts.log.warn({ err: error }, 'the ringback cannot be played'),
    )
  }

  async #earlyMedia(leg: Leg): Promise<void> {
    await this.#call.caller.progress()
    if (!this.#winner && !this.#partner && !leg.isEnded && !this.#call.caller.isEnded) this.#pair(leg)
  }

  /** From now on the caller hears this leg, and is heard by it. */
  #pair(leg: Leg): void {
    this.#ringback?.stop()
    this.#ringback = undefined
    this.#partner = leg
    this.#call.listen({
      digit: (digit) => this.#inBackground(leg.sendDigits(digit)),
      held: () => this.#patch(),
      referred: (referral) => this.legReferred(this.#call.caller, referral),
      replaced: () => this.#patch(),
    })
    this.#patch()
  }

  /** Joins the pair, or parts it while either of them holds; to be called after whatever may have changed that. */
  #patch(): void {
    const { caller } = this.#call
    const leg = this.#partner
    // A caller whose INVITE had no offer has no audio before the ACK of its answer (RFC 3264 section 4).
    const both = leg && !leg.isEnded && !leg.isHeld && !caller.isHeld && caller.port && leg.port
    if (both && this.#bridge?.a === caller && this.#bridge.b === leg) return
    this.#bridge?.close()
    this.#bridge = both ? this.#parts.bridges.join(caller, leg) : undefined
  }

  async #talk(winner: Leg): Promise<ConnectResult> {
    const { clock } = this.#parts
    const startedAt = clock.now()
    let last = winner
    try {
      for (let leg: Leg | undefined = winner; leg; leg = await this.#transferred()) {
        await this.#together(leg)
        last = this.#winner ?? leg
      }
    } catch (error) {
      // The caller's hang-up is an outcome too: whoever asked is told how long the two talked.
      if (!(error instanceof CallEnded)) throw error
    }
    return connected(this.#call, last, clock.now() - startedAt)
  }

  /** Until one of the two hangs up, or asks for a transfer. */
  async #together(leg: Leg): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#talkDone = resolve
    this.#pair(leg)
    const limit = this.#parts.clock.after(this.#options.maxDurationMs ?? MAX_DURATION_MS, () =>
      this.#winner?.end({ code: 'max_duration' }),
    )
    try {
      await this.#call.whileUp(this.#call.caller.answer())
      this.#patch()
      if (!leg.isEnded) await this.#call.whileUp(promise)
    } finally {
      limit.cancel()
      this.#part()
    }
  }

  /** Whom the caller talks to next: who was found, or else whoever asked. Undefined where no transfer was asked for, or nobody is left. */
  async #transferred(): Promise<Leg | undefined> {
    if (!this.#transfer) return undefined
    const { referral, referrer } = this.#transfer
    let [status, found]: [number, Leg?] = [487]
    try {
      this.#winner = undefined
      this.#cause = undefined
      found = await this.#ring([transferTo(referral, this.#call.caller)])
      status = found ? 200 : sipStatusOf(this.#cause ?? { code: 'unreachable' })
      if (!found && !referrer.isEnded) this.#winner = referrer
      return this.#winner
    } finally {
      this.#transfer = undefined
      settled(referral, status, found)
      if (this.#winner !== referrer) referrer.end({ code: 'normal' })
    }
  }

  #part(): void {
    this.#bridge?.close()
    this.#bridge = undefined
    this.#partner = undefined
    this.#call.listen(undefined)
  }

  /** Work that nobody waits for. What goes wrong in it costs the caller a sound, and never more than that. */
  #inBackground(work: Promise<void>): void {
    work.catch((error) => this.#parts.log.error({ err: error }, 'a step of the hunt failed'))
  }

  #release(): void {
    this.#over = true
    this.#part()
    this.#ringback?.stop()
    this.#stopRinging('canceled')
    if (this.#winner && !this.#winner.isEnded) this.#winner.end({ code: 'normal' })
    // The call ended before anybody was called for it.
    if (this.#transfer) settled(this.#transfer.referral, 487)
  }

  #stopRinging(code: Cause['code']): void {
    for (const [leg, timer] of [...this.#ringing]) {
      timer.cancel()
      if (leg !== this.#winner) leg.end({ code })
    }
    this.#ringing.clear()
  }
}
