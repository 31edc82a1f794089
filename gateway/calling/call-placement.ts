import type { CodecName } from '../../config/sip-types.ts'
import type { MachineOptions, RecordOptions } from '../../handlers/verbs.ts'
import type { CallRow } from '../calls/log/call-rows.ts'
import type { CallProgress, HandlerSpec, StatusTarget } from '../model.ts'

/** See {@link CallProgress}. */
export type PlacedState = CallProgress

/** A call that the API is asked to make. */
export interface CallOrder {
  readonly projectId: string
  /** SIP URI, number, `/context/name` or `client:name`. */
  readonly to: string
  readonly from: string
  /** Shown to who is called; default {@link from}. */
  readonly callerId?: string
  /** Runs when it is answered. */
  readonly handler: HandlerSpec
  /** Of SIP destinations. A secret. */
  readonly credentials?: { readonly username: string; readonly password: string }
  /** Ring time in ms; default that of the configuration. */
  readonly timeoutMs?: number
  /** Pressed as soon as it is answered. */
  readonly sendDigits?: string
  readonly codecs?: readonly CodecName[]
  readonly maxDurationMs?: number
  /** Further `envs` of documents. */
  readonly variables?: Readonly<Record<string, string>>
  readonly status?: StatusTarget
  /** Records it from the answer on. */
  readonly record?: {
    /** As {@link RecordOptions} has them. */
    readonly tracks: NonNullable<RecordOptions['tracks']>
    readonly trim: boolean
    readonly status?: {
      readonly url: string
      readonly method: 'GET' | 'POST'
      readonly events: readonly string[]
    }
  }
  /** Looks for an answering machine, before the document runs unless something else is said. */
  readonly detect?: {
    readonly waitForMessageEnd: boolean
    readonly timeoutMs: number
    /** How a machine is told from a person; default that of {@link MachineOptions}. */
    readonly thresholds?: Pick<
      MachineOptions,
      'initialTimeoutMs' | 'endSilenceMs' | 'voiceThresholdMs' | 'wordsThreshold'
    >
    /** The document runs at once; whom the result is told to. */
    readonly beside?: { readonly told?: { readonly url: string; readonly method: 'GET' | 'POST' } }
  }
  /** Which API asked for it. */
  readonly source: 'compat' | 'calling'
}

/** Makes calls for the API, and drives those that are in progress. */
export interface CallPlacement {
  /**
   * Begins a call. Resolves as soon as it is written down and its first leg is made, with the state `queued`; ringing goes on. Rejects with
   * `unknown_address`, `not_permitted`, `over_call_limit`, `draining`, `bad_request` (facts name the attribute).
   */
  place(order: CallOrder): Promise<CallRow>
  /**
   * Gives a call in progress another document in place of the one that runs: pending verbs are given up, the leg stays. `unknown_call`,
   * `call_not_in_progress`.
   */
  redirect(projectId: string, callId: string, handler: HandlerSpec, status?: StatusTarget): Promise<CallRow>
  /**
   * Ends a call: `canceled` only while nobody has answered it, `completed` whenever it is not over. `unknown_call`, `call_not_in_progress`.
   */
  end(projectId: string, callId: string, how: 'canceled' | 'completed'): Promise<CallRow>
}
