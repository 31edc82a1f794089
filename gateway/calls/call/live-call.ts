import type { CallControl } from '../../../handlers/verbs.ts'
import type { Code } from '../../core/errors/catalogue.ts'
import type { HandlerSpec } from '../../model.ts'
import type { Leg } from '../leg/leg.ts'

/** Call or branch in progress, controlled by its id. */
export interface LiveCall {
  /**
   * Verbs for use beside the running handler. Absent for a branch that rings, or that another call is
   * connected to.
   */
  readonly control?: CallControl
  readonly state: 'ringing' | 'answered'
  /**
   * Replaces the running handler, and cancels its pending verbs. The call ends with the new handler. Throws
   * `call_not_in_progress` before an answer, and for a branch that another call is connected to.
   */
  redirect(handler: HandlerSpec): void
  end(code: Code): void
}

/** Call or branch in progress, for the operator. */
export interface CallInProgress {
  /** Legs in the order of their start, also those that have ended. */
  readonly legs: readonly Leg[]
  end(code: Code): void
}

/** Calls and branches in progress by id; implemented by `Calls`. */
export interface LiveCalls {
  live(projectId: string, callId: string): LiveCall | undefined
}
