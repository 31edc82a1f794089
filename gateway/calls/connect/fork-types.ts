import type { Callee, CalleeState, ConnectOptions } from '../../../handlers/verbs.ts'
import type { Clock } from '../../core/clock.ts'
import type { Cause } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import type { Call } from '../call/call.ts'
import type { ScopableControl } from '../call/scopable-control.ts'
import type { Leg, LegOwner } from '../leg/leg.ts'
import type { OutboundRequest } from '../leg/outbound-request.ts'
import type { Calling, CallLog } from '../log/call-log.ts'
import type { Branch } from './branch.ts'
import type { LegDialer } from './leg-dialer.ts'
import type { QueuedCaller, QueuedCallers } from './queued-callers.ts'

/** Default of the maximum duration of a connection, in ms: 4 hours. */
export const defaultMaxDurationMs = 4 * 3_600_000

/** Collaborators and settings of a fork. */
export interface ForkDialerDeps {
  readonly dialer: Pick<LegDialer, 'targetsOf' | 'dial'>
  /** Default: no queue has a caller. */
  readonly queuedCallers?: QueuedCallers
  /** Returns the verbs of a call whose caller's leg is a callee's, for the destination's `confirm`. */
  readonly controlOf: (call: Call) => ScopableControl
  readonly callLog: Pick<CallLog, 'called'>
  readonly clock: Clock
  /** Default ring time in ms. */
  readonly ringMs: number
}

/** Receives the progress of a fork. */
export interface ForkListener {
  /** A leg rings. `hasMedia`: its early media can be heard. */
  early(leg: Leg, hasMedia: boolean): void
  /**
   * A leg can no longer be heard: it has ended, or its callee is being asked to confirm. `hasOthers`: whether
   * further legs ring.
   */
  silent(leg: Leg, hasOthers: boolean): void
  /** The far side pressed a key before a leg has won. */
  digit(leg: Leg, digit: string): void
  /** State of a branch. Must not throw. */
  state(branch: Branch, state: CalleeState): void
}

/** Call or API request that a fork dials for. */
export interface ForkOwner extends Calling, Partial<ForkListener> {
  readonly log: Log
  /** Returns the request for the legs of a branch. */
  request(branch: Branch): OutboundRequest
  /** Takes a new leg. `fork` owns it until a leg has won. */
  adopt(leg: Leg, fork: LegOwner): void
}

/** Time limits of a fork. */
export type ForkOptions = Pick<ConnectOptions, 'timeoutMs' | 'confirmTimeoutMs'>

/**
 * Leg that has won. The owner of the fork owns the leg from now on; of a `queued` caller's leg it has the
 * audio only.
 */
export interface Winner {
  readonly leg: Leg
  readonly branch: Branch
  readonly queued?: QueuedCaller
}

/** Best rejection of a fork without a winner, and its callee. */
export interface ForkFailure {
  readonly cause: Cause
  readonly callee?: Callee
}
