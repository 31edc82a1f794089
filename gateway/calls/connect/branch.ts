import type { Callee, CalleeState, Destination } from '../../../handlers/verbs.ts'
import type { Cause, Code } from '../../core/errors/catalogue.ts'
import type { CallId } from '../../model.ts'
import type { Call } from '../call/call.ts'
import { newCallId } from '../call/ids.ts'
import type { Leg } from '../leg/leg.ts'
import { betterCause } from './best-cause.ts'

type Outcome = Extract<CalleeState, { kind: 'ended' }>['outcome']

const outcomes: Partial<Record<Code, Outcome>> = {
  busy: 'busy',
  declined: 'declined',
  no_answer: 'no-answer',
  not_online: 'no-answer',
  no_application: 'no-answer',
  canceled: 'canceled',
  answered_elsewhere: 'canceled',
}

/** One destination from its INVITE to the end of its legs. A SIP endpoint has a leg for each contact. */
export class Branch {
  readonly destination: Destination
  /** Call id of the branch; also of the leg that answers. */
  readonly callId: CallId
  #report: (state: CalleeState) => void
  #legs: readonly Leg[] = []
  #answered: Leg | undefined
  #answeredAt: number | undefined
  #queued: Call | undefined
  #hasWon = false
  #hasRung = false

  /** `report` must not throw. */
  constructor(destination: Destination, report: (state: CalleeState) => void) {
    this.destination = destination
    this.callId = newCallId()
    this.#report = report
  }

  get hasWon(): boolean {
    return this.#hasWon
  }

  get legs(): readonly Leg[] {
    return this.#legs
  }

  /** Sets the legs, at least one, and reports their states from now on. */
  dialled(legs: readonly Leg[]): void {
    this.#legs = legs
    this.#report({ kind: 'initiated', callee: this.#calleeBy(legs[0]!) })
    for (const leg of legs) leg.whenGone(() => this.#legGone(leg))
  }

  /** Reports a branch without a leg. */
  failed({ code }: Cause): void {
    this.#report({ kind: 'ended', outcome: outcomes[code] ?? 'failed', durationMs: 0, code })
  }

  ringing(leg: Leg): void {
    if (this.#hasRung || this.#answered) return
    this.#hasRung = true
    this.#report({ kind: 'ringing', callee: this.#calleeBy(leg) })
  }

  answered(leg: Leg): void {
    this.#answered = leg
    this.#answeredAt = leg.times.answeredAt
    this.#report({ kind: 'answered', callee: this.#calleeBy(leg) })
  }

  /** Replaces the answered leg; ignores other legs. Must run before the end of `leg`. */
  replaced(leg: Leg, by: Leg): void {
    if (leg !== this.#answered) return
    this.#answered = by
    this.#legs = [...this.#legs, by]
    by.whenGone(() => this.#legGone(by))
  }

  /** Ends all legs. */
  end(cause: Cause): void {
    for (const leg of this.#legs) leg.end(cause)
  }

  /** Marks the branch as the winner. `queued`: call of the caller of a queue. */
  won(queued?: Call): void {
    this.#hasWon = true
    this.#queued = queued
    if (queued) this.#report({ kind: 'answered', callee: calleeOfQueue(queued, this.destination) })
  }

  /** Reports that the caller of a queue was parted from the consumer, and goes on alone. */
  parted(durationMs: number): void {
    if (!this.#queued) return
    const callee = calleeOfQueue(this.#queued, this.destination)
    this.#report({ kind: 'ended', callee, outcome: 'completed', durationMs, code: 'normal' })
  }

  /** Best rejection of the legs so far. A callee who hangs up before the leg has won counts as declined. */
  get refusal(): Cause | undefined {
    const answered = this.#answered
    if (!answered) return this.#legs.map(causeOf).reduce<Cause | undefined>(better, undefined)
    const cause = causeOf(answered)
    return cause?.code === 'normal' && !this.#hasWon ? { ...cause, code: 'declined' } : cause
  }

  /** Callee who has answered, or else the one dialed last. Undefined before any INVITE. */
  get callee(): Callee | undefined {
    if (this.#queued) return calleeOfQueue(this.#queued, this.destination)
    const leg = this.#answered ?? this.#legs.at(-1)
    return leg && this.#calleeBy(leg)
  }

  #legGone(leg: Leg): void {
    if (this.#answered ? leg !== this.#answered : this.#legs.some((other) => !other.isEnded)) return
    const { code } = this.refusal ?? { code: 'internal' as const }
    const answeredAt = this.#answeredAt
    const { endedAt } = leg.times
    this.#report({
      kind: 'ended',
      callee: this.#calleeBy(leg),
      outcome: this.#hasWon ? 'completed' : (outcomes[code] ?? 'failed'),
      durationMs: answeredAt === undefined || endedAt === undefined ? 0 : endedAt - answeredAt,
      code,
    })
  }

  #calleeBy(leg: Leg): Callee {
    const { sipCallId, response } = leg.facts
    return {
      callId: this.callId,
      to: this.destination.to,
      from: leg.from.uri,
      type: leg.type,
      ...(sipCallId !== undefined && { sip: { callId: sipCallId, headers: [], ...response } }),
    }
  }
}

const calleeOfQueue = ({ info }: Call, { to }: Destination): Callee => ({
  callId: info.callId,
  to,
  from: info.from,
  type: info.type,
  ...(info.sip && { sip: { callId: info.sip.callId, headers: info.headers } }),
})

const causeOf = ({ state }: Leg): Cause | undefined => (state.kind === 'ended' ? state.cause : undefined)

const better = (before: Cause | undefined, now: Cause | undefined): Cause | undefined =>
  now ? betterCause(before, now) : before
