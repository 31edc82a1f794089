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

/** One destination, from when it is dialled until nothing is left of it, whether it rings in one place or, as an endpoint may, in many. */
export class Branch {
  readonly destination: Destination
  /** What its call is known by: that of the one leg of several that is answered. */
  readonly callId: CallId
  #tell: (state: CalleeState) => void
  #legs: readonly Leg[] = []
  #answered: Leg | undefined
  #answeredAt: number | undefined
  #queued: Call | undefined
  #taken = false
  #rang = false

  /** `tell` must not throw. */
  constructor(destination: Destination, tell: (state: CalleeState) => void) {
    this.destination = destination
    this.callId = newCallId()
    this.#tell = tell
  }

  get hasWon(): boolean {
    return this.#taken
  }

  get legs(): readonly Leg[] {
    return this.#legs
  }

  /** The legs that were made for it, all of them; at least one. They are told of from now on. */
  dialled(legs: readonly Leg[]): void {
    this.#legs = legs
    this.#tell({ kind: 'initiated', callee: this.#calleeBy(legs[0]!) })
    for (const leg of legs) leg.whenGone(() => this.#gone(leg))
  }

  /** There is no leg, and will be none. */
  failed({ code }: Cause): void {
    this.#tell({ kind: 'ended', outcome: outcomes[code] ?? 'failed', durationMs: 0, code })
  }

  ringing(leg: Leg): void {
    if (this.#rang || this.#answered) return
    this.#rang = true
    this.#tell({ kind: 'ringing', callee: this.#calleeBy(leg) })
  }

  answered(leg: Leg): void {
    this.#answered = leg
    this.#answeredAt = leg.times.answeredAt
    this.#tell({ kind: 'answered', callee: this.#calleeBy(leg) })
  }

  /** Another leg takes the place of the one that was answered; nothing where `leg` is another one. To be told before `leg` ends. */
  replaced(leg: Leg, by: Leg): void {
    if (leg !== this.#answered) return
    this.#answered = by
    this.#legs = [...this.#legs, by]
    by.whenGone(() => this.#gone(by))
  }

  /** Ends its legs. */
  end(cause: Cause): void {
    for (const leg of this.#legs) leg.end(cause)
  }

  /** Whoever answered is whom the caller gets; of a queue, the caller of another call. */
  won(queued?: Call): void {
    this.#taken = true
    this.#queued = queued
    if (queued) this.#tell({ kind: 'answered', callee: calleeOfQueue(queued, this.destination) })
  }

  /** The one of a queue goes on alone. */
  parted(durationMs: number): void {
    if (!this.#queued) return
    const callee = calleeOfQueue(this.#queued, this.destination)
    this.#tell({ kind: 'ended', callee, outcome: 'completed', durationMs, code: 'normal' })
  }

  /** Why it was not taken, for as long as that is known: of several legs the best refusal. Who hangs up before it is taken has declined. */
  get refusal(): Cause | undefined {
    const answered = this.#answered
    if (!answered) return this.#legs.map(causeOf).reduce<Cause | undefined>(better, undefined)
    const cause = causeOf(answered)
    return cause?.code === 'normal' && !this.#taken ? { ...cause, code: 'declined' } : cause
  }

  /** Whoever answered, or else the one that was dialled last; undefined where nobody was. */
  get callee(): Callee | undefined {
    if (this.#queued) return calleeOfQueue(this.#queued, this.destination)
    const leg = this.#answered ?? this.#legs.at(-1)
    return leg && this.#calleeBy(leg)
  }

  #gone(leg: Leg): void {
    if (this.#answered ? leg !== this.#answered : this.#legs.some((other) => !other.isEnded)) return
    const { code } = this.refusal ?? { code: 'internal' as const }
    const answeredAt = this.#answeredAt
    const { endedAt } = leg.times
    this.#tell({
      kind: 'ended',
      callee: this.#calleeBy(leg),
      outcome: this.#taken ? 'completed' : (outcomes[code] ?? 'failed'),
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
