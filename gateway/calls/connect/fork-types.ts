import type { Callee, CalleeState, ConnectOptions } from '../../../handlers/verbs.ts'
import type { Clock } from '../../core/clock.ts'
import type { Cause } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import type {
  OutboundLocal,
  OutboundRequest,
  OutboundSip,
  OutboundSubscriber,
  QueuedCaller,
  QueuedCallers,
} from '../call-ports.ts'
import type { Leg, LegOwner } from '../leg/leg.ts'
import type { Calling, Journal } from '../log/call-log.ts'
import type { Branch } from './branch.ts'
import type { ConfirmationDeps } from './confirmation.ts'
import type { DestinationDeps } from './destinations.ts'

/** What ringing works with. */
export interface ForkDialerDeps extends DestinationDeps, ConfirmationDeps {
  readonly sip: OutboundSip
  readonly subscribers: OutboundSubscriber
  readonly locals: OutboundLocal
  /** Default: nobody waits in any queue. */
  readonly waiters?: QueuedCallers
  readonly clock: Clock
  readonly log: Log
  /** Ring time where the options say nothing, in ms. */
  readonly ringMs: number
  /** Writes down whoever is called. */
  readonly journal: Pick<Journal, 'called'>
}

/** For whom it rings. */
export interface ForkOwner extends Calling {
  /** What the legs of a branch are made with. */
  request(branch: Branch): OutboundRequest
  /** A leg was made; `ringing` hears of it until somebody is taken. */
  adopt(leg: Leg, ringing: LegOwner): void
  /** A leg rings, or its early media can be heard. */
  early(leg: Leg, media: boolean): void
  /** A leg that may have been heard is so no more: it is over, or it is asked whether it takes the call. `others` ring on. */
  silent(leg: Leg, others: boolean): void
  /** A key was pressed before the answer. */
  digit(leg: Leg, digit: string): void
  /** How a branch goes. Must not throw. */
  state?(branch: Branch, state: CalleeState): void
}

/** How long to ring. */
export type ForkOptions = Pick<ConnectOptions, 'timeoutMs' | 'confirmTimeoutMs'>

/** Who answered and was taken. The leg is the owner's from now on; of a `queued` one only its audio is. */
export interface Winner {
  readonly leg: Leg
  readonly branch: Branch
  readonly queued?: QueuedCaller
}

/** Why nobody could be had: the best refusal, and whose it was. */
export interface ForkFailure {
  readonly cause: Cause
  readonly callee?: Callee
}
