import type { CallControl, CallInfo, Destination } from '../../../handlers/verbs.ts'
import type { HandlerSpec } from '../../model.ts'

/** Runs a handler on a call, and settles at the end of the handler. `known`: facts about the call. */
export type Handle = (handler: HandlerSpec, known?: Pick<CallInfo, 'answeredBy'>) => Promise<void>

/** Call that the gateway makes. */
export interface Origination {
  readonly projectId: string
  /**
   * Steps as for `connect`. The leg of the first callee who answers becomes the caller's leg of the call.
   * Each destination needs a `from`.
   */
  readonly steps: readonly (readonly Destination[])[]
  /** Default ring time of a destination; default 60 s. */
  readonly timeoutMs?: number
  readonly maxDurationMs?: number
  /** Called for each leg before anything happens on it. */
  readonly onLeg?: (leg: OriginatedLeg) => void
  /** Caller for the call's documents and its CDR; default the destination's `from`, which the callee sees. */
  readonly from?: string
  /** Further `envs` of the call's documents. */
  readonly variables?: Readonly<Record<string, string>>
  /**
   * Controls the call after its answer, with its own verbs or by a handler (`handle`). The call ends when the
   * promise resolves.
   */
  readonly run: (call: CallControl, handle: Handle) => Promise<void>
  /** Cancels the call while it rings. Has no effect after the answer. */
  readonly signal?: AbortSignal
}

/**
 * Leg of a call that the gateway makes. If this leg answers first, its call id is also the `callId` of
 * {@link CallControl.info}.
 */
export interface OriginatedLeg {
  readonly callId: string
  readonly destination: Destination
  readonly type: 'sip' | 'webrtc'
  /** Calls back in order; `ended` is the last state. */
  onState(listener: (state: 'ringing' | 'answered' | 'ended') => void): void
}

/** Maker of calls; implemented by `Calls`. */
export interface Originator {
  /**
   * Resolves with the call id of the callee who answers. Rejects with a TrunklineError (`busy`, `no_answer`,
   * …) if none does.
   */
  originate(origination: Origination): Promise<string>
}
