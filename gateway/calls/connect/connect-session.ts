import { CallEnded, type ConnectOptions, type ConnectResult } from '../../../handlers/verbs.ts'
import { type Cause, sipStatusOf } from '../../core/errors/catalogue.ts'
import { guarded } from '../../core/guarded.ts'
import type { CallId } from '../../model.ts'
import type { Call } from '../call/call.ts'
import type { QueuedCaller } from '../call-ports.ts'
import { checkDigits, sendDigitsAfterAnswer } from '../leg/dtmf.ts'
import type { Leg, LegOwner } from '../leg/leg.ts'
import { type Referral, settleReferral } from '../leg/referral.ts'
import type { Branch } from './branch.ts'
import { BridgeSession } from './bridge-session.ts'
import { type ConnectSessionDeps, defaultMaxDurationMs } from './connect-deps.ts'
import { connectCanceled, connectFailure, connectResult, type EndedBy } from './connect-outcome.ts'
import { referralDestination, requestFor } from './destinations.ts'
import { ForkDialer } from './fork-dialer.ts'
import type { ForkOwner, Winner } from './fork-types.ts'
import { Ringback } from './ringback.ts'

/** Outcome of {@link ConnectSession.run}. */
export interface ConnectOutcome {
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
export class ConnectSession implements LegOwner, ForkOwner {
  readonly projectId: string
  readonly callId: CallId
  #parts: ConnectSessionDeps
  #call: Call
  #options: ConnectOptions
  #ringing: ForkDialer
  #ringback: Ringback
  /** Whom the caller hears: the winner, or before there is one, a leg with early media. */
  #bridge: BridgeSession
  #winner: Leg | undefined
  /** What the winner was found by; of a transfer, the one who was found by it. */
  #taken: Winner | undefined
  /** A transfer that was asked for, and the leg that asked, which may well be gone already. */
  #transfer: { readonly referral: Referral; readonly referrer: Leg } | undefined
  /** How the time together was ended, where it was not by a hang-up. */
  #endedBy: EndedBy | undefined
  #talkDone: () => void = () => {}

  constructor(parts: ConnectSessionDeps, call: Call, options: ConnectOptions) {
    this.projectId = call.info.projectId
    this.callId = call.id
    this.#parts = parts
    this.#call = call
    this.#options = options
    this.#ringing = new ForkDialer(parts, this, options)
    this.#bridge = new BridgeSession(parts.bridges, call, {
      digit: (digit) => this.#pressed(digit),
      referred: (referral) => this.legReferred(call.caller, referral),
    })
    const bridge = this.#bridge
    this.#ringback = new Ringback({ ...parts, call, bridge, sounds: options.ringback })
  }

  /** Rejects with `CallEnded` when the caller goes before anybody answered, and with `invalid_digits` before anybody is called. */
  async run(): Promise<ConnectOutcome> {
    const { caller, signal } = this.#call
    const { signal: given, steps, answerOnBridge } = this.#options
    for (const { sendDigits } of steps.flat()) if (sendDigits) checkDigits(sendDigits)
    // Before the call ends its legs, so that those are told apart that were given up and those that hung up.
    const gone = () => this.#ringing.stop()
    const stop = () => this.#end('stopped')
    signal.addEventListener('abort', gone)
    given?.addEventListener('abort', stop)
    try {
      if (!caller.isAnswered && !answerOnBridge) await this.#call.whileUp(caller.answer())
      if (given?.aborted) return { result: connectCanceled }
      const taken = await this.#call.whileUp(this.#ringing.run(steps))
      if (taken) {
        const result = await this.#talk(taken)
        const fault = this.#fault
        return { result, ...(fault && { fault }) }
      }
      if (given?.aborted) return { result: connectCanceled }
      const refused = this.#ringing.refused ?? { cause: { code: 'unreachable' } }
      return { result: connectFailure(refused), cause: refused.cause }
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

  request(branch: Branch) {
    return requestFor(branch, this.#call)
  }

  adopt(leg: Leg, ringing: LegOwner): void {
    this.#call.adopt(leg, ringing)
    if (ringing === this.#ringing) this.#call.caller.calling(leg)
  }

  early(leg: Leg, media: boolean): void {
    if (this.#bridge.partner || this.#winner) return
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
    if (this.#bridge.partner === leg) this.#inBackground(this.#call.caller.sendDigits(digit))
  }

  legHeld(): void {
    this.#bridge.patch()
  }

  /** Either of the two may ask, and the other one stays: it is the caller from now on. */
  legReferred(leg: Leg, referral: Referral): boolean {
    const { caller } = this.#call
    const winner = this.#winner
    if (!winner?.isAnswered || this.#bridge.partner !== winner || !caller.isAnswered || this.#transfer)
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
    if (leg !== this.#winner || this.#bridge.partner !== leg) return false
    this.#call.adopt(by, this)
    this.#taken?.branch.replaced(leg, by)
    this.#winner = by
    this.#bridge.pair(by)
    leg.end({ code: 'answered_elsewhere' })
    return true
  }

  /** A transfer goes on without the one who asked for it. */
  legEnded(leg: Leg): void {
    if (leg === this.#winner) this.#talkDone()
  }

  async #talk(taken: Winner): Promise<ConnectResult> {
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
    const { branch } = this.#taken ?? taken
    const durationMs = clock.now() - startedAt
    branch.parted(durationMs)
    return connectResult(
      branch,
      this.#endedBy ?? (this.#call.caller.isEnded ? 'caller' : 'callee'),
      durationMs,
    )
  }

  #take(taken: Winner): void {
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
      held: () => this.#bridge.patch(),
      replaced: () => {
        this.#winner = queued.caller
        if (this.#bridge.partner) this.#bridge.pair(queued.caller)
      },
    })
  }

  async #press(taken: Winner): Promise<void> {
    const pressed = sendDigitsAfterAnswer(taken)
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
    this.#bridge.pair(leg)
    const limit = this.#parts.clock.after(this.#options.maxDurationMs ?? defaultMaxDurationMs, () =>
      this.#end('limit'),
    )
    try {
      await this.#call.whileUp(this.#call.caller.answer())
      this.#bridge.patch()
      if (!leg.isEnded) {
        this.#tellConnected()
        await this.#call.whileUp(promise)
      }
    } finally {
      limit.cancel()
      this.#bridge.part()
    }
  }

  /** Whom the caller talks to next: who was found, or else whoever asked. Undefined where no transfer was asked for, or nobody is left. */
  async #transferred(): Promise<Leg | undefined> {
    if (!this.#transfer) return undefined
    const { referral, referrer } = this.#transfer
    let [status, found]: [number, Leg?] = [487]
    try {
      this.#winner = undefined
      this.#ringing = new ForkDialer(this.#parts, this, this.#options)
      const taken = await this.#call.whileUp(
        this.#ringing.run([[referralDestination(referral, this.#call.caller)]]),
      )
      found = taken?.leg
      status = found ? 200 : sipStatusOf(this.#ringing.refused?.cause ?? { code: 'unreachable' })
      if (taken) this.#take(taken)
      else if (!referrer.isEnded && !this.#endedBy) this.#winner = referrer
      return this.#winner
    } finally {
      this.#transfer = undefined
      settleReferral(referral, status, found)
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
    const { partner } = this.#bridge
    if (digit === '*' && this.#options.hangupOnStar && this.#winner) this.#end('star')
    else if (partner) this.#inBackground(partner.sendDigits(digit))
  }

  #tellConnected(): void {
    const callee = this.#taken?.branch.callee
    const { onConnected } = this.#options
    if (!callee || !onConnected) return
    const tell = guarded(onConnected, this.#parts.log)
    tell({
      callee,
      hangup: () => this.#end('stopped'),
      sendDigits: async (digits) => {
        checkDigits(digits)
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
    this.#bridge.part()
    this.#ringing.stop()
    this.#taken?.queued?.call.listen(undefined)
    this.#taken?.queued?.release()
    if (!this.#taken?.queued) this.#winner?.end({ code: 'normal' })
    // The call ended before anybody was called for it.
    if (this.#transfer) settleReferral(this.#transfer.referral, 487)
  }
}
