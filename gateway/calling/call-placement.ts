import type { CodecName } from '../../config/types.ts'
import type { MachineOptions, RecordOptions } from '../../handlers/verbs.ts'
import type { CallRow } from '../calls/log/call-rows.ts'
import type { CallProgress, HandlerSpec, StatusTarget } from '../model.ts'

/** See {@link CallProgress}. */
export type PlacedState = CallProgress

/** Call that the API makes. */
export interface CallOrder {
  readonly projectId: string
  /** SIP URI, number, `/context/name` or `client:name`. */
  readonly to: string
  readonly from: string
  /** Caller identity for the callee; default {@link from}. */
  readonly callerId?: string
  /** Handler that runs after the answer. */
  readonly handler: HandlerSpec
  /** Credentials for SIP destinations. A secret. */
  readonly credentials?: { readonly username: string; readonly password: string }
  /** Ring time in ms; default: the ring time of the configuration. */
  readonly timeoutMs?: number
  /** Digits that are sent after the answer. */
  readonly sendDigits?: string
  readonly codecs?: readonly CodecName[]
  readonly maxDurationMs?: number
  /** Further `envs` of documents. */
  readonly variables?: Readonly<Record<string, string>>
  readonly status?: StatusTarget
  /** Records the call from its answer on. */
  readonly record?: {
    /** Tracks of {@link RecordOptions}. */
    readonly tracks: NonNullable<RecordOptions['tracks']>
    readonly trim: boolean
    readonly status?: {
      readonly url: string
      readonly method: 'GET' | 'POST'
      readonly events: readonly string[]
    }
  }
  /** Detects an answering machine, before the document runs unless {@link background} is set. */
  readonly detect?: {
    readonly waitForMessageEnd: boolean
    readonly timeoutMs: number
    /** Thresholds of the detection; defaults of {@link MachineOptions}. */
    readonly thresholds?: Pick<
      MachineOptions,
      'initialTimeoutMs' | 'endSilenceMs' | 'voiceThresholdMs' | 'wordsThreshold'
    >
    /** Runs the document at once, and reports the result to a URL. */
    readonly background?: { readonly callback?: { readonly url: string; readonly method: 'GET' | 'POST' } }
  }
  /** API of the request. */
  readonly source: 'compat' | 'calling'
}

/** Makes calls for the API, and controls calls in progress. */
export interface CallPlacement {
  /**
   * Makes a call. Resolves with its row in the state `queued` when its first leg was made, and so before an
   * answer. Rejects with `unknown_address`, `not_permitted`, `over_call_limit`, `draining`, or `bad_request`
   * (with the attribute).
   */
  place(order: CallOrder): Promise<CallRow>
  /**
   * Replaces the document of a call in progress. Pending verbs are cancelled, and the leg stays. Throws
   * `unknown_call` or `call_not_in_progress`.
   */
  redirect(projectId: string, callId: string, handler: HandlerSpec, status?: StatusTarget): Promise<CallRow>
  /**
   * Ends a call: `canceled` only before an answer, `completed` at any time. Throws `unknown_call` or
   * `call_not_in_progress`.
   */
  end(projectId: string, callId: string, how: 'canceled' | 'completed'): Promise<CallRow>
}
