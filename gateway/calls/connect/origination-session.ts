import type { CalleeState } from '../../../handlers/verbs.ts'
import { type Cause, sipStatusOf, TrunklineError } from '../../core/errors/catalogue.ts'
import { guarded } from '../../core/guarded.ts'
import { infoOf } from '../call/call-info.ts'
import type { Origination, OutboundRequest } from '../call-ports.ts'
import { isDigits, sendDigitsAfterAnswer } from '../leg/dtmf.ts'
import type { Leg, LegOwner } from '../leg/leg.ts'
import type { CdrSource } from '../log/call-cdr.ts'
import type { Branch } from './branch.ts'
import { partyOf, queueNameOf, withHeaders } from './destinations.ts'
import { ForkDialer } from './fork-dialer.ts'
import type { ForkDialerDeps, ForkOwner, Winner } from './fork-types.ts'

type LegEvent = 'ringing' | 'answered' | 'ended'

/** A call that is being made: everything up to the answer. It owns the legs until one of them is taken. */
export class OriginationSession implements ForkOwner {
  #parts: ForkDialerDeps
  #origination: Origination
  #record: (call: CdrSource) => void
  #ringing: ForkDialer
  #legs = new Set<Leg>()
  #listeners = new Map<Branch, Set<(state: LegEvent) => void>>()
  #taken: Leg | undefined
  #ended: Cause | undefined

  /** `record` is told of each leg that was not taken, once it is over. Throws `bad_request`, or `invalid_digits`, for a destination that cannot be called so. */
  constructor(parts: ForkDialerDeps, origination: Origination, record: (call: CdrSource) => void) {
    for (const { from, to, sendDigits } of origination.steps.flat()) {
      if (sendDigits && !isDigits(sendDigits))
        throw new TrunklineError('invalid_digits', `${to}: sendDigits.`)
      if (!from) throw new TrunklineError('bad_request', `${to}: from is missing.`)
      if (queueNameOf(to) !== undefined)
        throw new TrunklineError('bad_request', `${to}: a queue cannot be called.`)
    }
    this.#parts = parts
    this.#origination = origination
    this.#record = record
    this.#ringing = new ForkDialer(parts, this, origination)
  }

  get projectId(): string {
    return this.#origination.projectId
  }

  /** Legs in progress. */
  get legs(): ReadonlySet<Leg> {
    return this.#legs
  }

  /** Who answered; its leg may have ended since. Rejects with a TrunklineError of the best refusal where nobody did. To be called once. */
  async run(): Promise<Winner> {
    const { signal, steps } = this.#origination
    const giveUp = () => this.end({ code: 'canceled' })
    signal?.addEventListener('abort', giveUp)
    if (signal?.aborted) giveUp()
    try {
      const taken = await this.#ringing.run(steps)
      if (!taken) throw this.#failure()
      this.#taken = taken.leg
      await sendDigitsAfterAnswer(taken)
      return taken
    } finally {
      signal?.removeEventListener('abort', giveUp)
    }
  }

  /** Gives up while it rings, or while keys are pressed for who answered. Idempotent. */
  end(cause: Cause): void {
    this.#ended ??= cause
    this.#ringing.stop()
    this.#taken?.end(cause)
  }

  request(branch: Branch): OutboundRequest {
    const { callId } = branch
    const destination = withHeaders(branch)
    const from = partyOf(this.#origination.from ?? destination.from ?? '', destination.fromName ?? '')
    return { destination, projectId: this.projectId, callId, codec: 'PCMU', from }
  }

  adopt(leg: Leg, ringing: LegOwner): void {
    leg.own(ringing)
    this.#legs.add(leg)
    leg.whenGone(() => this.#legs.delete(leg))
  }

  early(): void {}

  silent(): void {}

  digit(): void {}

  state(branch: Branch, state: CalleeState): void {
    const { kind } = state
    if (kind === 'initiated') this.#tellLeg(branch, state.callee.type)
    else for (const listener of this.#listeners.get(branch) ?? []) guarded(listener, this.#parts.log)(kind)
    if (kind === 'ended') this.#over(branch)
  }

  #tellLeg(branch: Branch, type: 'sip' | 'webrtc'): void {
    const listeners = new Set<(state: LegEvent) => void>()
    this.#listeners.set(branch, listeners)
    const { callId, destination } = branch
    const onState = (listener: (state: LegEvent) => void) => void listeners.add(listener)
    const { onLeg } = this.#origination
    if (onLeg) guarded(onLeg, this.#parts.log)({ callId, destination, type, onState })
  }

  /** Writes down what becomes nobody's call. */
  #over(branch: Branch): void {
    this.#listeners.delete(branch)
    const { callId, legs } = branch
    const caller = legs.find(({ times }) => times.answeredAt !== undefined) ?? legs.at(-1)
    if (!caller || branch.hasWon) return
    const cdrLegs = legs.map((leg) => ({ leg, role: 'caller' as const }))
    this.#record({
      id: callId,
      info: infoOf({ leg: caller, callId, projectId: this.projectId, headers: [] }),
      caller,
      cdrLegs,
      omittedLegs: 0,
    })
  }

  #failure(): TrunklineError {
    const cause = this.#ended ?? this.#ringing.refused?.cause ?? { code: 'unreachable' }
    return new TrunklineError(cause.code, cause.detail, { sipStatus: sipStatusOf(cause) })
  }
}
