import type { Leg } from '../../calls/leg/leg.ts'
import type { CallResult } from '../../cdr/subscriber-history.ts'
import type { Code } from '../../core/errors/catalogue.ts'
import { shownUri } from '../../core/sip-uri.ts'
import type { SubscriberCallRow } from '../../directory/tables/subscriber-calls.ts'
import type { Party } from '../../model.ts'
import { farSideOf, nameOf } from './displayed-party.ts'
import type { Presence } from './presence.ts'

/** Collaborators of {@link SubscriberCallLog}. */
export interface SubscriberCallLogDeps {
  /** Stores an ended call. */
  readonly history: { add(call: SubscriberCallRow): void }
  readonly presence: Pick<Presence, 'emit'>
}

/** Subscriber whose call is logged. */
export interface LoggedSubscriber {
  readonly id: string
  readonly projectId: string
  /** Id of the call in the subscriber's browsers. */
  readonly callId: string
}

/** Logs the calls of subscribers for their history, and reports each to the subscriber's browsers. */
export class SubscriberCallLog {
  readonly #deps: SubscriberCallLogDeps

  constructor(deps: SubscriberCallLogDeps) {
    this.#deps = deps
  }

  /** Logs a call when its leg has ended. */
  watch(leg: Leg, subscriber: LoggedSubscriber): void {
    leg.whenGone(() => {
      const { state, times } = leg
      const code = state.kind === 'ended' ? state.cause.code : 'internal'
      // The gateway names directions from its own view: an inbound leg is an outgoing call of the subscriber.
      const direction = leg.direction === 'inbound' ? 'outbound' : 'inbound'
      const isAnswered = times.answeredAt !== undefined
      this.#add({
        ...this.#shared(subscriber, farSideOf(leg)),
        id: leg.id,
        direction,
        result: isAnswered ? 'answered' : resultOf(code, direction),
        code,
        started_at: times.startedAt,
        answered_at: times.answeredAt ?? null,
        ended_at: times.endedAt ?? times.startedAt,
      })
    })
  }

  /** Logs a call that the gateway rejected before it had a leg. `id`: id of the gateway for the call. */
  rejected(id: string, subscriber: LoggedSubscriber, to: Party, code: Code, at: number): void {
    this.#add({
      ...this.#shared(subscriber, to),
      id,
      direction: 'outbound',
      result: resultOf(code, 'outbound'),
      code,
      started_at: at,
      answered_at: null,
      ended_at: at,
    })
  }

  #shared({ id, projectId, callId }: LoggedSubscriber, other: Party) {
    return { subscriber_id: id, project_id: projectId, call_id: callId, ...dialableOf(other) }
  }

  #add(call: SubscriberCallRow): void {
    this.#deps.history.add(call)
    this.#deps.presence.emit(call.subscriber_id, 'subscriber.call', { id: call.id })
  }
}

const outgoing: Partial<Record<Code, CallResult>> = {
  busy: 'busy',
  declined: 'declined',
  no_answer: 'no_answer',
  not_online: 'no_answer',
  canceled: 'canceled',
  normal: 'canceled',
}

const incoming: Partial<Record<Code, CallResult>> = {
  answered_elsewhere: 'answered_elsewhere',
  declined: 'declined',
  canceled: 'missed',
  no_answer: 'missed',
  not_online: 'missed',
  busy: 'missed',
  normal: 'missed',
}

const resultOf = (code: Code, direction: 'inbound' | 'outbound'): CallResult =>
  (direction === 'inbound' ? incoming : outgoing)[code] ?? 'failed'

/** Returns the name of a party, and its number or address as it can be dialed. */
const dialableOf = (party: Party): Pick<SubscriberCallRow, 'name' | 'number'> => {
  const { name, number } = nameOf(party)
  const isDialable = party.private || /^(?:\/|\+?\d{3,20}$)/.test(number)
  return { name: clean(name), number: clean(isDialable ? number : shownUri(party.uri)) }
}

/** Returns a text without null characters, which databases reject, and of limited length. */
const clean = (text: string): string => text.replaceAll('\0', '').slice(0, 256)
