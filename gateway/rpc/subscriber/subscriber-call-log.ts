import type { Leg } from '../../calls/leg/leg.ts'
import type { CallResult, SubscriberHistory } from '../../cdr/subscriber-history.ts'
import type { Code } from '../../core/errors/catalogue.ts'
import { shownUri } from '../../core/sip-uri.ts'
import type { SubscriberCallRow } from '../../directory/tables/subscriber-calls.ts'
import type { Party } from '../../model.ts'
import { farSideOf, nameOf } from './displayed-party.ts'
import type { Presence } from './presence.ts'

/** Collaborators of {@link SubscriberCallLog}. */
export interface SubscriberCallLogDeps {
  readonly history: Pick<SubscriberHistory, 'add' | 'addInProgress'>
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

  /** Logs the call of a leg. The call appears when the leg has ended, or the gateway has crashed. */
  watch(leg: Leg, subscriber: LoggedSubscriber): void {
    const { history } = this.#deps
    history.addInProgress(this.#rowOf(leg, subscriber))
    leg.whenAnswered(() => history.addInProgress(this.#rowOf(leg, subscriber)))
    leg.whenGone(() => this.#add(this.#rowOf(leg, subscriber)))
  }

  /** Returns the row of a leg that has ended, or of one that ends with the gateway. */
  #rowOf(leg: Leg, subscriber: LoggedSubscriber): SubscriberCallRow {
    const { state, times } = leg
    const { startedAt, answeredAt, endedAt = answeredAt ?? startedAt } = times
    const code = state.kind === 'ended' ? state.cause.code : 'interrupted'
    // The gateway names directions from its own view: an inbound leg is an outgoing call of the subscriber.
    const direction = leg.direction === 'inbound' ? 'outbound' : 'inbound'
    return {
      ...this.#shared(subscriber, farSideOf(leg)),
      id: leg.id,
      direction,
      result: answeredAt === undefined ? resultOf(code, direction) : 'answered',
      code,
      started_at: startedAt,
      answered_at: answeredAt ?? null,
      ended_at: endedAt,
    }
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
  interrupted: 'missed',
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
