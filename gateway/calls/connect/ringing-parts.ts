import type { Callee, CalleeState, ConnectOptions } from '../../../handlers/verbs.ts'
import type { Clock } from '../../core/clock.ts'
import type { Cause } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import type { Leg, LegOwner } from '../leg/leg.ts'
import type { Calling, Journal } from '../log/journal.ts'
import type {
  OutboundLocal,
  OutboundRequest,
  OutboundSip,
  OutboundSubscriber,
  QueuedCaller,
  Waiters,
} from '../ports.ts'
import type { Candidate } from './candidate.ts'
import type { DestinationParts } from './destinations.ts'
import type { ScreenParts } from './screening.ts'

/** What ringing works with. */
export interface RingingParts extends DestinationParts, ScreenParts {
  readonly sip: OutboundSip
  readonly subscribers: OutboundSubscriber
  readonly locals: OutboundLocal
  /** Default: nobody waits in any queue. */
  readonly waiters?: Waiters
  readonly clock: Clock
  readonly log: Log
  /** Ring time where the options say nothing, in ms. */
  readonly ringMs: number
  /** Writes down whoever is called. */
  readonly journal: Pick<Journal, 'called'>
}

/** For whom it rings. */
export interface RingingOwner extends Calling {
  /** What the legs of a candidate are made with. */
  request(candidate: Candidate): OutboundRequest
  /** A leg was made; `ringing` hears of it until somebody is taken. */
  adopt(leg: Leg, ringing: LegOwner): void
  /** A leg rings, or its early media can be heard. */
  early(leg: Leg, media: boolean): void
  /** A leg that may have been heard is so no more: it is over, or it is asked whether it takes the call. `others` ring on. */
  silent(leg: Leg, others: boolean): void
  /** A key was pressed before the answer. */
  digit(leg: Leg, digit: string): void
  /** How a candidate goes. Must not throw. */
  state?(candidate: Candidate, state: CalleeState): void
}

/** How long to ring. */
export type RingingOptions = Pick<ConnectOptions, 'timeoutMs' | 'confirmTimeoutMs'>

/** Who answered and was taken. The leg is the owner's from now on; of a `queued` one only its audio is. */
export interface Taken {
  readonly leg: Leg
  readonly candidate: Candidate
  readonly queued?: QueuedCaller
}

/** Why nobody could be had: the best refusal, and whose it was. */
export interface Refused {
  readonly cause: Cause
  readonly callee?: Callee
}
