import type { ReferResult } from '../../../handlers/verbs.ts'
import type { Leg } from './leg.ts'

/** Transfer of the other party, requested by the far side of a leg (RFC 3515). */
export interface Referral {
  /** Target: a SIP URI, a number, or an address. */
  readonly to: string
  /** Value of Referred-By (RFC 3892), which the target receives, too. */
  readonly referredBy?: string
  /** Receives provisional SIP statuses, and then one final status. */
  progress(status: number): void
  /**
   * Called once when the leg of the target has ended, or if no target answers. Not called for a transfer that
   * was rejected at once.
   */
  over?(): void
}

/** Reports the outcome of a transfer; `found`: leg of the target that has answered. */
export const settleReferral = (referral: Referral, status: number, found?: Leg): void => {
  referral.progress(status)
  const over = () => referral.over?.()
  if (found) found.whenGone(over)
  else over()
}

/** Options of a transfer request to a far side. */
export interface ReferOptions {
  /** Referred-By (RFC 3892): a SIP URI; default none. */
  readonly referredBy?: string
  /** Maximum wait for the outcome, in ms; default 60 s. */
  readonly timeoutMs?: number
  /** Credentials for a challenge of the far side, whatever its realm. */
  readonly credentials?: { readonly username: string; readonly password: string }
}

/**
 * Outcome of a transfer. `status`: status of the response, or 408 without a response. After `completed` the
 * leg has ended.
 */
export type ReferOutcome = ReferResult
