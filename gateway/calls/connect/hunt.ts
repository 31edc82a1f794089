import { CallEnded, type ConnectOptions, type ConnectResult } from '../../../handlers/verbs.ts'
import { type Cause, sipStatusOf } from '../../core/errors/catalogue.ts'
import { guarded } from '../../core/guarded.ts'
import type { CallId } from '../../model.ts'
import type { Call } from '../call/call.ts'
import type { Leg, LegOwner } from '../leg/leg.ts'
import { type Referral, settled } from '../leg/referral.ts'
import { checkKeys, pressAnswered } from '../leg/telling.ts'
import type { QueuedCaller } from '../ports.ts'
import type { Candidate } from './candidate.ts'
import { requestFor, transferTo } from './destinations.ts'
import { type HuntParts, MAX_DURATION_MS } from './hunt-parts.ts'
import { canceled, connected, type EndedBy, failure } from './outcome.ts'
import { Pairing } from './pairing.ts'
import { Ringback } from './ringback.ts'
import { Ringing } from './ringing.ts'
import type { RingingOwner, Taken } from './ringing-parts.ts'

/** Outcome of {@link Hunt.run}. */
export interface HuntOutcome {
  readonly result: ConnectResult
  /** Refusal that the caller is given; absent if a callee answered. */
  readonly cause?: Cause
  /** Failure of the gateway itself that ended the leg of the callee. */
  readonly fault?: Cause
}

/**
 * Finds somebody for the caller: tries the steps one after the other, rings the destinations of a step together, takes the first answer
 * and joins the two until one hangs up. It owns the leg that it took.
 */
export class Hunt implements LegOwner, RingingOwner {
  readonly projectId: string
  readonly callId: CallId
  #parts: HuntParts
  #call: Call
  #options: ConnectOptions
  #ringing: Ringing
  #ringback: Ringback
  /** Whom the caller hears: the winner, or before there is one, a leg with early media. */
  #pairing: Pairing
  #winner: Leg | undefined
  /** What the winner was found by; of a transfer, the one who was found by it. */
  #taken: Taken | undefined
  /** A transfer that was asked for, and the leg that asked, which may well be gone already. */
  #transfer: { readonly referral: Referral; readonly referrer: Leg } | undefined
  /** How the time together was ended, where it was not by a hang-up. */
  #endedBy: EndedBy | undefined
  #talkDone: () => void = () => {}

  constructor(parts: HuntParts, call: Call, options: ConnectOptions) {
    this.projectId = call.info.projectId
    this.callId = call.id
    this.#parts = parts
    this.#call = call
    this.#options = options
    this.#ringing = new Ringing(parts, this, options)
    this.#pairing = new Pairing(parts.bridges, call, {
      digit: (digit) => this.#pressed(digit),
      referred: (referral) => this.legReferred(call.caller, referral),
    })
    const pairing = this.#pairing
    this.#ringback = new Ringback({ ...parts, call, pairing, sounds: options.ringback })
  }

  /** Rejects with `CallEnded` when the caller goes before anybody answered, and with `invalid_digits` before anybody is called. */
  async run(): Promise<HuntOutcome> {
    const { caller, signal } = this.#call
    const { signal: given, steps, answerOnBridge } = this.#options
    for (const { sendDigits } of steps.flat()) if (sendDigits) checkKeys(sendDigits)
    // Before the call ends its legs, so that those are told apart that were given up and those that hung up.
    const gone = () => this.#ringing.stop()
    const stop = () => this.#end('stopped')
    signal.addEventListener('abort', gone)
    given?.addEventListener('abort', stop)
    try {
      if (!caller.isAnswered && !answerOnBridge) await this.#call.whileUp(caller.answer())
      if (given?.aborted) return { result: canceled }
      const taken = await this.#call.whileUp(this.#ringing.run(steps))
      if (taken) {
        const result = await this.#talk(taken)
        const fault = this.#fault
        return { result, ...(fault && { fault }) }
      }
      if (given?.aborted) return { result: canceled }
      const refused = this.#ringing.refused ?? { cause: { code: 'unreachable' } }
      return { result: failure(refused), cause: refused.cause }
    } finally {
      signal.removeEventListener('abort', gone)
      given?.removeEventListener('abort', stop)
      this.#release()
    }
  }

  /** Failure of the gateway itself that ended the leg of the callee. */
  get #fault(): Cause | undefined {
    const state = this.#winner?.state
    return state?.kind === 'ended' && state.cause.code === 'internal' ? state.cause : undefined
  }

  // What rings.

  request(candidate: Candidate) {
    return requestFor(candidate, this.#call)
  }

  adopt(leg: Leg, ringing: LegOwner): void {
    this.#call.adopt(leg, ringing)
    if (ringing === this.#ringing) this.#call.caller.calling(leg)
  }

  early(leg: Leg, media: boolean): void {
    if (this.#pairing.partner || this.#winner) return
    this.#transfer?.referral.progress(180)
    this.#ringback.early(leg, media)
  }

  silent(leg: Leg, others: boolean): void {
    this.#ringback.silent(leg, others)
  }

  digit(leg: Leg, digit: string): void {
    this.legDigit(leg, digit)
  }

  // What was taken.

  legEarly(): void {}

  legAnswered(): void {}

  /** A digit of the callee goes to the caller. */
  legDigit(leg: Leg, digit: string): void {
    if (this.#pairing.partner === leg) this.#inBackground(this.#call.caller.sendDigits(digit))
  }

  legHeld(): void {
    this.#pairing.patch()
  }

  /** Either of the two may ask, and the other one stays: it is the caller from now on. */
  legReferred(leg: Leg, referral: Referral): boolean {
    const { caller } = this.#call
    const winner = this.#winner
    if (!winner?.isAnswered || this.#pairing.partner !== winner || !caller.isAnswered || this.#transfer)
      return false
    // Who came from a queue belongs to another call.
    if (this.#taken?.queued) return false
    if (leg === caller) {
      this.#call.handOver(winner, this)
      this.#winner = caller
    }
    this.#transfer = { referral, referrer: leg }
    this.#talkDone()
    return true
  }

  legReplaced(leg: Leg, by: Leg): boolean {
    if (leg !== this.#winner || this.#pairing.partner !== leg) return false
    this.#call.adopt(by, this)
    this.#taken?.candidate.replaced(leg, by)
    this.#winner = by
    this.#pairing.pair(by)
    leg.end({ code: 'answered_elsewhere' })
    return true
  }

  /** A transfer goes on without the one who asked for it. */
  legEnded(leg: Leg): void {
    if (leg === this.#winner) this.#talkDone()
  }

  async #talk(taken: Taken): Promise<ConnectResult> {
    const { clock } = this.#parts
    this.#take(taken)
    let startedAt = clock.now()
    try {
      await this.#press(taken)
      startedAt = clock.now()
      for (let leg = this.#winner; leg; leg = await this.#transferred()) await this.#together(leg)
    } catch (error) {
      // The caller's hang-up is an outcome too: whoever asked is told how long the two talked.
      if (!(error instanceof CallEnded)) throw error
    }
    const { candidate } = this.#taken ?? taken
    const durationMs = clock.now() - startedAt
    candidate.parted(durationMs)
    return connected(
      candidate,
      this.#endedBy ?? (this.#call.caller.isEnded ? 'caller' : 'callee'),
      durationMs,
    )
  }

  #take(taken: Taken): void {
    this.#taken = taken
    this.#winner = taken.leg
    taken.queued?.join()
    if (taken.queued) this.#listen(taken.queued)
    else taken.leg.own(this)
  }

  /** Who came from a queue is the caller of its own call, and heard through that. */
  #listen({ call: queued, over }: QueuedCaller): void {
    const gone = () => this.#end('callee')
    if (over.aborted) gone()
    else over.addEventListener('abort', gone, { once: true })
    queued.listen({
      partner: this.#call.caller,
      digit: (digit) => this.legDigit(queued.caller, digit),
      held: () => this.#pairing.patch(),
      replaced: () => {
        this.#winner = queued.caller
        if (this.#pairing.partner) this.#pairing.pair(queued.caller)
      },
    })
  }

  async #press(taken: Taken): Promise<void> {
    const pressed = pressAnswered(taken)
    if (!pressed) return
    this.silent(taken.leg, true)
    await this.#call.whileUp(pressed)
  }

  /** Until one of the two hangs up, or asks for a transfer. */
  async #together(leg: Leg): Promise<void> {
    if (leg.isEnded || this.#endedBy) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#talkDone = resolve
    this.#ringback.stop()
    this.#pairing.pair(leg)
    const limit = this.#parts.clock.after(this.#options.maxDurationMs ?? MAX_DURATION_MS, () =>
      this.#end('limit'),
    )
    try {
      await this.#call.whileUp(this.#call.caller.answer())
      this.#pairing.patch()
      if (!leg.isEnded) {
        this.#tellConnected()
        await this.#call.whileUp(promise)
      }
    } finally {
      limit.cancel()
      this.#pairing.part()
    }
  }

  /** Whom the caller talks to next: who was found, or else whoever asked. Undefined where no transfer was asked for, or nobody is left. */
  async #transferred(): Promise<Leg | undefined> {
    if (!this.#transfer) return undefined
    const { referral, referrer } = this.#transfer
    let [status, found]: [number, Leg?] = [487]
    try {
      this.#winner = undefined
      this.#ringing = new Ringing(this.#parts, this, this.#options)
      const taken = await this.#call.whileUp(this.#ringing.run([[transferTo(referral, this.#call.caller)]]))
      found = taken?.leg
      status = found ? 200 : sipStatusOf(this.#ringing.refused?.cause ?? { code: 'unreachable' })
      if (taken) this.#take(taken)
      else if (!referrer.isEnded && !this.#endedBy) this.#winner = referrer
      return this.#winner
    } finally {
      this.#transfer = undefined
      settled(referral, status, found)
      if (this.#winner !== referrer) referrer.end({ code: 'normal' })
    }
  }

  /** Gives up whoever rings, or parts the two. */
  #end(by: EndedBy): void {
    this.#endedBy ??= by
    const winner = this.#winner
    if (!winner) this.#ringing.stop()
    // Who came from a queue goes on alone.
    else if (this.#taken?.queued) this.#talkDone()
    else winner.end({ code: by === 'limit' ? 'max_duration' : 'normal' })
  }

  #pressed(digit: string): void {
    const { partner } = this.#pairing
    if (digit === '*' && this.#options.hangupOnStar && this.#winner) this.#end('star')
    else if (partner) this.#inBackground(partner.sendDigits(digit))
  }

  #tellConnected(): void {
    const callee = this.#taken?.candidate.callee
    const { onConnected } = this.#options
    if (!callee || !onConnected) return
    const tell = guarded(onConnected, this.#parts.log)
    tell({
      callee,
      hangup: () => this.#end('stopped'),
      sendDigits: async (digits) => {
        checkKeys(digits)
        await this.#winner?.sendDigits(digits)
      },
    })
  }

  /** Work that nobody waits for. What goes wrong in it costs the caller a sound, and never more than that. */
  #inBackground(work: Promise<void>): void {
    work.catch((error) => this.#parts.log.error({ err: error }, 'a step of the hunt failed'))
  }

  #release(): void {
    this.#ringback.close()
    this.#pairing.part()
    this.#ringing.stop()
    this.#taken?.queued?.call.listen(undefined)
    this.#taken?.queued?.release()
    if (!this.#taken?.queued) this.#winner?.end({ code: 'normal' })
    // The call ended before anybody was called for it.
    if (this.#transfer) settled(this.#transfer.referral, 487)
  }
}
