import type { CalleeState } from '../../../handlers/verbs.ts'
import { type Cause, sipStatusOf, TrunklineError } from '../../core/errors/catalogue.ts'
import { guardListener } from '../../core/guard.ts'
import type { Log } from '../../core/log.ts'
import { infoOf } from '../call/call-info.ts'
import { isDigits } from '../leg/dtmf.ts'
import type { Leg, LegOwner } from '../leg/leg.ts'
import type { OutboundRequest } from '../leg/outbound-request.ts'
import type { CdrSource } from '../log/call-cdr.ts'
import type { Branch } from './branch.ts'
import { partyOf, queueNameOf, withHeaders } from './destinations.ts'
import { sendDigitsAfterAnswer } from './digits-after-answer.ts'
import { ForkDialer } from './fork-dialer.ts'
import type { ForkDialerDeps, ForkOwner, Winner } from './fork-types.ts'
import type { Origination } from './origination.ts'

type LegEvent = 'ringing' | 'answered' | 'ended'

/** Collaborators of an {@link OriginationSession}. */
export interface OriginationSessionDeps {
  readonly fork: ForkDialerDeps
  readonly log: Log
  /** Called for each branch that has not won, when its legs have ended. */
  readonly onBranchLost: (call: CdrSource) => void
}

/** Call that the gateway makes, up to its answer. The session owns the legs until one of them wins. */
export class OriginationSession implements ForkOwner {
  readonly log: Log
  #origination: Origination
  #onBranchLost: (call: CdrSource) => void
  #fork: ForkDialer
  #legs = new Set<Leg>()
  #listeners = new Map<Branch, Set<(state: LegEvent) => void>>()
  #winner: Leg | undefined
  #endCause: Cause | undefined

  /** Throws `bad_request` or `invalid_digits` for a destination that cannot be called. */
  constructor({ fork, log, onBranchLost }: OriginationSessionDeps, origination: Origination) {
    for (const { from, to, sendDigits } of origination.steps.flat()) {
      if (sendDigits && !isDigits(sendDigits))
        throw new TrunklineError('invalid_digits', `${to}: sendDigits.`)
      if (!from) throw new TrunklineError('bad_request', `${to}: from is missing.`)
      if (queueNameOf(to) !== undefined)
        throw new TrunklineError('bad_request', `${to}: a queue cannot be called.`)
    }
    this.log = log
    this.#origination = origination
    this.#onBranchLost = onBranchLost
    this.#fork = new ForkDialer(fork, this, origination)
  }

  get projectId(): string {
    return this.#origination.projectId
  }

  /** Legs in progress. */
  get legs(): ReadonlySet<Leg> {
    return this.#legs
  }

  /**
   * Resolves with the winner, whose leg may have ended since. If no callee answers, rejects with a
   * TrunklineError for the callees' best rejection. Call it once.
   */
  async run(): Promise<Winner> {
    const { signal, steps } = this.#origination
    const cancel = () => this.end({ code: 'canceled' })
    signal?.addEventListener('abort', cancel)
    if (signal?.aborted) cancel()
    try {
      const winner = await this.#fork.run(steps)
      if (!winner) throw this.#failure()
      this.#winner = winner.leg
      await sendDigitsAfterAnswer(winner)
      return winner
    } finally {
      signal?.removeEventListener('abort', cancel)
    }
  }

  /** Cancels the call while it rings, or while digits are sent after its answer. Idempotent. */
  end(cause: Cause): void {
    this.#endCause ??= cause
    this.#fork.stop()
    this.#winner?.end(cause)
  }

  request(branch: Branch): OutboundRequest {
    const { callId } = branch
    const destination = withHeaders(branch)
    const from = partyOf(this.#origination.from ?? destination.from ?? '', destination.fromName ?? '')
    return { destination, projectId: this.projectId, callId, codec: 'PCMU', from }
  }

  adopt(leg: Leg, fork: LegOwner): void {
    leg.own(fork)
    this.#legs.add(leg)
    leg.whenGone(() => this.#legs.delete(leg))
  }

  state(branch: Branch, state: CalleeState): void {
    const { kind } = state
    if (kind === 'initiated') this.#reportLeg(branch, state.callee.type)
    else for (const listener of this.#listeners.get(branch) ?? []) guardListener(listener, this.log)(kind)
    if (kind === 'ended') this.#ended(branch)
  }

  #reportLeg(branch: Branch, type: 'sip' | 'webrtc'): void {
    const listeners = new Set<(state: LegEvent) => void>()
    this.#listeners.set(branch, listeners)
    const { callId, destination } = branch
    const onState = (listener: (state: LegEvent) => void) => void listeners.add(listener)
    const { onLeg } = this.#origination
    if (onLeg) guardListener(onLeg, this.log)({ callId, destination, type, onState })
  }

  /** Reports a branch that has not won. */
  #ended(branch: Branch): void {
    this.#listeners.delete(branch)
    const { callId, legs } = branch
    const caller = legs.find(({ times }) => times.answeredAt !== undefined) ?? legs.at(-1)
    if (!caller || branch.hasWon) return
    this.#onBranchLost({
      id: callId,
      info: infoOf({ leg: caller, callId, projectId: this.projectId, headers: [] }),
      caller,
      cdrLegs: legs.map((leg) => ({ leg, role: 'caller' as const })),
      omittedLegs: 0,
    })
  }

  #failure(): TrunklineError {
    const cause = this.#endCause ?? this.#fork.failure?.cause ?? { code: 'unreachable' }
    return new TrunklineError(cause.code, cause.detail, { sipStatus: sipStatusOf(cause) })
  }
}
