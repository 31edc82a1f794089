import type { Cancellable } from './cancel.ts'

/** Options of {@link CallControl.refer} (RFC 3515). */
export interface ReferOptions extends Cancellable {
  /** SIP URI of the transfer target. */
  readonly to: string
  /** Digest user name for a challenge of the far side. */
  readonly username?: string
  /** Digest password for a challenge of the far side. */
  readonly password?: string
  /** Maximum wait for the outcome, in milliseconds; default 60 s. */
  readonly timeoutMs?: number
}

/** Result of {@link CallControl.refer}. */
export interface ReferResult {
  /**
   * Outcome of the transfer. After `completed` the call has ended. `canceled` also means that the caller hung
   * up before the outcome was reported.
   */
  readonly kind: 'completed' | 'busy' | 'no-answer' | 'canceled' | 'failed'
  /** Status of the response to REFER; 408 without a response. */
  readonly status: number
  /** Last status that a NOTIFY reported. */
  readonly notifyStatus?: number
}
