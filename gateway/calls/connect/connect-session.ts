import { CallEnded, type ConnectOptions, type ConnectResult } from '../../../handlers/verbs.ts'
import type { Mixer } from '../../../media/types.ts'
import type { Clock } from '../../core/clock.ts'
import { type Cause, sipStatusOf } from '../../core/errors/catalogue.ts'
import { guardListener } from '../../core/guard.ts'
import type { Log } from '../../core/log.ts'
import type { CallId } from '../../model.ts'
import type { Player } from '../audio/player.ts'
import type { Call } from '../call/call.ts'
import type { Addition } from '../leg/addition.ts'
import type { Bridges } from '../leg/bridges.ts'
import { checkDigits } from '../leg/dtmf.ts'
import type { Leg, LegOwner } from '../leg/leg.ts'
import { type Referral, settleReferral } from '../leg/referral.ts'
import { AddedParties } from './added-parties.ts'
import type { Branch } from './branch.ts'
import { BridgeSession } from './bridge-session.ts'
import { connectCanceled, connectFailure, connectResult, type EndedBy } from './connect-outcome.ts'
import { referralDestination, requestFor } from './destinations.ts'
import { sendDigitsAfterAnswer } from './digits-after-answer.ts'
import { ForkDialer } from './fork-dialer.ts'
import { defaultMaxDurationMs, type ForkDialerDeps, type ForkOwner, type Winner } from './fork-types.ts'
import { PartyMix } from './party-mix.ts'
import type { QueuedCaller } from './queued-callers.ts'
import { Ringback } from './ringback.ts'

/** Collaborators of a {@link ConnectSession}. */
export interface ConnectSessionDeps {
  readonly fork: ForkDialerDeps
  readonly bridges: Bridges
  /** Opens a mixer for calls of more than two parties. */
  readonly openMixer: () => Promise<Mixer>
  readonly player: Player
  readonly clock: Clock
}

/** Outcome of {@link ConnectSession.run}. */
export interface ConnectOutcome {
  readonly result: ConnectResult
  /** Rejection for the caller; absent if a callee answered. */
  readonly cause?: Cause
  /** Failure of the gateway that ended the callee's leg. */
  readonly fault?: Cause
  /** Removal from a room that ended the callee's leg. */
  readonly removal?: Cause['removal']
}

/**
 * One `connect` of a call. Tries the steps in order, and rings the destinations of a step together. The first
 * callee who answers is joined with the caller until one of them hangs up. The session owns the callee's leg.
 */
export class ConnectSession implements LegOwner, ForkOwner {
  readonly projectId: string
  readonly callId: CallId
  readonly log: Log
  #deps: ConnectSessionDeps
  #call: Call
  #options: ConnectOptions
  #fork: ForkDialer
  #ringback: Ringback
  /** Joins the caller with the callee or, before an answer, with a leg that has early media. */
  #bridge: BridgeSession
  /** Leg of the callee. */
  #callee: Leg | undefined
  /** Winner of the last fork: the fork of the verb itself, or the fork of a transfer. */
  #winner: Winner | undefined
  /** Transfer in progress, and the leg that requested it. That leg may have ended since. */
  #transfer: { readonly referral: Referral; readonly referrer: Leg } | undefined
  /** Reason for which the two were parted, other than a hang-up. */
  #endedBy: EndedBy | undefined
  /** Persons who were added to the call. */
  readonly #added: AddedParties
  #talkDone: () => void = () => {}

  constructor(deps: ConnectSessionDeps, call: Call, options: ConnectOptions) {
    this.projectId = call.info.projectId
    this.callId = call.id
    this.log = call.log
    this.#deps = deps
    this.#call = call
    this.#options = options
    this.#fork = new ForkDialer(deps.fork, this, options)
    this.#added = new AddedParties(deps.fork, call, options, () => this.#bridge.gather(this.#added.legs))
    const bridge = new BridgeSession(deps.bridges, new PartyMix(deps.openMixer, call.log), call, {
      digit: (digit) => this.#pressed(digit),
      referred: (referral) => this.legReferred(call.caller, referral),
      adds: (addition) => this.legAdds(call.caller, addition),
      left: () => this.#callerLeft(),
    })
    this.#bridge = bridge
    this.#ringback = new Ringback({ call, bridge, player: deps.player, sounds: options.ringback })
  }

  /**
   * Rejects with `CallEnded` if the caller hangs up before an answer, and with `invalid_digits` before a
   * callee is dialed.
   */
  async run(): Promise<ConnectOutcome> {
    const { caller, signal } = this.#call
    const { signal: given, steps, answerOnBridge } = this.#options
    for (const { sendDigits } of steps.flat()) if (sendDigits) checkDigits(sendDigits)
    // Runs before the call ends its legs, so that its branches count as cancelled and not as hung up by
    // callees.
    const gone = () => this.#fork.stop()
    const stop = () => this.#end('stopped')
    signal.addEventListener('abort', gone)
    given?.addEventListener('abort', stop)
    try {
      if (!caller.isAnswered && !answerOnBridge) await this.#call.whileUp(caller.answer())
      if (given?.aborted) return { result: connectCanceled }
      const winner = await this.#call.whileUp(this.#fork.run(steps))
      if (winner) {
        const result = await this.#talk(winner)
        return { result, ...this.#endOfCallee() }
      }
      if (given?.aborted) return { result: connectCanceled }
      const failure = this.#fork.failure ?? { cause: { code: 'unreachable' } }
      return { result: connectFailure(failure), cause: failure.cause }
    } finally {
      signal.removeEventListener('abort', gone)
      given?.removeEventListener('abort', stop)
      this.#release()
    }
  }

  /** Failure of the gateway, or removal from a room, that ended the callee's leg. */
  #endOfCallee(): Pick<ConnectOutcome, 'fault' | 'removal'> {
    const state = this.#callee?.state
    if (state?.kind !== 'ended') return {}
    const { code, removal } = state.cause
    return { ...(code === 'internal' && { fault: state.cause }), ...(removal && { removal }) }
  }

  // The fork.

  request(branch: Branch) {
    return requestFor(branch, this.#call)
  }

  adopt(leg: Leg, fork: LegOwner): void {
    this.#call.adopt(leg, fork)
    if (fork === this.#fork) this.#call.caller.calling(leg)
  }

  early(leg: Leg, hasMedia: boolean): void {
    if (this.#bridge.partner || this.#callee) return
    this.#transfer?.referral.progress(180)
    this.#ringback.early(leg, hasMedia)
  }

  silent(leg: Leg, hasOthers: boolean): void {
    this.#ringback.silent(leg, hasOthers)
  }

  digit(leg: Leg, digit: string): void {
    this.legDigit(leg, digit)
  }

  // The callee's leg.

  /** Sends a digit of the callee to the caller. */
  legDigit(leg: Leg, digit: string): void {
    if (this.#bridge.partner === leg) this.#inBackground(this.#call.caller.sendDigits(digit))
  }

  legHeld(): void {
    this.#bridge.patch()
  }

  /**
   * Starts a transfer that either party has requested. The other party stays, and is the caller from now on.
   */
  legReferred(leg: Leg, referral: Referral): boolean {
    const { caller } = this.#call
    const callee = this.#callee
    if (!callee?.isAnswered || this.#bridge.partner !== callee || !caller.isAnswered || this.#transfer)
      return false
    // A caller of a queue belongs to another call.
    if (this.#winner?.queued || this.#added.isCalling || this.#added.legs.length > 0) return false
    if (leg === caller) {
      // The callee must not be joined to itself as the new caller.
      this.#bridge.part()
      this.#call.handOver(callee, this)
      this.#callee = caller
    }
    this.#transfer = { referral, referrer: leg }
    this.#talkDone()
    return true
  }

  /** Calls a person, who joins the two. */
  legAdds(leg: Leg, addition: Addition): boolean {
    const isConnected = this.#callee?.isAnswered && this.#bridge.partner === this.#callee
    if (!isConnected || !this.#call.caller.isAnswered || this.#transfer || this.#winner?.queued) return false
    return this.#added.add(leg, addition)
  }

  legReplaced(leg: Leg, by: Leg): boolean {
    if (leg !== this.#callee || this.#bridge.partner !== leg) return false
    this.#call.adopt(by, this)
    this.#winner?.branch.replaced(leg, by)
    this.#callee = by
    this.#bridge.pair(by)
    leg.end({ code: 'answered_elsewhere' })
    return true
  }

  /** Ends the connection with the callee's leg. A transfer goes on without the leg that has requested it. */
  legEnded(leg: Leg): void {
    if (leg === this.#callee && !this.#nextCallee()) this.#talkDone()
  }

  /** Lets an added person take the place of the callee. Returns false without one. */
  #nextCallee(): boolean {
    const next = this.#endedBy || this.#transfer ? undefined : this.#added.take()
    if (!next) return false
    this.#callee = next
    next.own(this)
    this.#bridge.pair(next, this.#added.legs)
    return true
  }

  /** Makes the callee the caller if an added person stays with it. Returns false otherwise. */
  #callerLeft(): boolean {
    const callee = this.#callee
    if (!callee || callee.isEnded || this.#added.legs.length === 0) return false
    this.#call.handOver(callee)
    return this.#nextCallee()
  }

  async #talk(winner: Winner): Promise<ConnectResult> {
    const { clock } = this.#deps
    this.#take(winner)
    let startedAt = clock.now()
    try {
      await this.#sendDigits(winner)
      startedAt = clock.now()
      for (let leg = this.#callee; leg; leg = await this.#transferred()) await this.#together(leg)
    } catch (error) {
      // A hang-up by the caller is also a result, which has the duration of the connection.
      if (!(error instanceof CallEnded)) throw error
    }
    const { branch } = this.#winner ?? winner
    const durationMs = clock.now() - startedAt
    branch.parted(durationMs)
    const endedBy = this.#endedBy ?? (this.#call.caller.isEnded ? 'caller' : 'callee')
    return connectResult(branch, endedBy, durationMs)
  }

  #take(winner: Winner): void {
    this.#winner = winner
    this.#callee = winner.leg
    winner.queued?.join()
    if (winner.queued) this.#listen(winner.queued)
    else winner.leg.own(this)
  }

  /** Listens to a caller of a queue through its own call. */
  #listen({ call: queued, over }: QueuedCaller): void {
    const gone = () => this.#end('callee')
    if (over.aborted) gone()
    else over.addEventListener('abort', gone, { once: true })
    queued.listen({
      partner: this.#call.caller,
      digit: (digit) => this.legDigit(queued.caller, digit),
      held: () => this.#bridge.patch(),
      replaced: () => {
        this.#callee = queued.caller
        if (this.#bridge.partner) this.#bridge.pair(queued.caller)
      },
    })
  }

  async #sendDigits(winner: Winner): Promise<void> {
    const sent = sendDigitsAfterAnswer(winner)
    if (!sent) return
    this.silent(winner.leg, true)
    await this.#call.whileUp(sent)
  }

  /** Joins the two until one of them hangs up or requests a transfer. */
  async #together(leg: Leg): Promise<void> {
    if (leg.isEnded || this.#endedBy) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#talkDone = resolve
    this.#ringback.stop()
    this.#bridge.pair(leg)
    const maxDurationMs = this.#options.maxDurationMs ?? defaultMaxDurationMs
    const limit = this.#deps.clock.after(maxDurationMs, () => this.#end('limit'))
    try {
      await this.#call.whileUp(this.#call.caller.answer())
      this.#bridge.patch()
      if (!leg.isEnded) {
        this.#reportConnected()
        await this.#call.whileUp(promise)
      }
    } finally {
      limit.cancel()
      this.#bridge.part()
    }
  }

  /**
   * Returns the leg that the caller talks to next: the transfer target or, if that fails, the leg that has
   * requested the transfer. Undefined without a transfer, or if no leg is left.
   */
  async #transferred(): Promise<Leg | undefined> {
    if (!this.#transfer) return undefined
    const { referral, referrer } = this.#transfer
    let status = 487
    let target: Leg | undefined
    try {
      this.#callee = undefined
      this.#fork = new ForkDialer(this.#deps.fork, this, this.#options)
      const destination = referralDestination(referral, this.#call.caller)
      const winner = await this.#call.whileUp(this.#fork.run([[destination]]))
      target = winner?.leg
      status = target ? 200 : sipStatusOf(this.#fork.failure?.cause ?? { code: 'unreachable' })
      if (winner) this.#take(winner)
      else if (!referrer.isEnded && !this.#endedBy) this.#callee = referrer
      return this.#callee
    } finally {
      this.#transfer = undefined
      settleReferral(referral, status, target)
      if (this.#callee !== referrer) referrer.end({ code: 'normal' })
    }
  }

  /** Cancels the fork, or parts the two. */
  #end(by: EndedBy): void {
    this.#endedBy ??= by
    const callee = this.#callee
    if (!callee) this.#fork.stop()
    // A caller of a queue goes on alone.
    else if (this.#winner?.queued) this.#talkDone()
    else callee.end({ code: by === 'limit' ? 'max_duration' : 'normal' })
  }

  #pressed(digit: string): void {
    const { partner } = this.#bridge
    if (digit === '*' && this.#options.hangupOnStar && this.#callee) this.#end('star')
    else if (partner) this.#inBackground(partner.sendDigits(digit))
  }

  #reportConnected(): void {
    const callee = this.#winner?.branch.callee
    const { onConnected } = this.#options
    if (!callee || !onConnected) return
    guardListener(
      onConnected,
      this.log,
    )({
      callee,
      hangup: () => this.#end('stopped'),
      sendDigits: async (digits) => {
        checkDigits(digits)
        await this.#callee?.sendDigits(digits)
      },
    })
  }

  /** Runs work in the background. A failure is logged, and the call goes on. */
  #inBackground(work: Promise<void>): void {
    work.catch((error) =>
      this.log.error({ event: 'call.digits-failed', err: error }, 'digits of the other party not sent'),
    )
  }

  #release(): void {
    this.#ringback.close()
    this.#added.close()
    this.#bridge.part()
    this.#fork.stop()
    this.#winner?.queued?.call.listen(undefined)
    this.#winner?.queued?.release()
    if (!this.#winner?.queued) this.#callee?.end({ code: 'normal' })
    // The call has ended before the transfer target was dialed.
    if (this.#transfer) settleReferral(this.#transfer.referral, 487)
  }
}
