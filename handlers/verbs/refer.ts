import type { Cancellable } from './cancel.ts'

/** Whom the caller is asked to talk to in our place (RFC 3515). */
export interface ReferOptions extends Cancellable {
  /** A SIP URI. */
  readonly to: string
  /** Digest credentials, where the far side asks for them. */
  readonly username?: string
  readonly password?: string
  /** Longest wait for the outcome; default 60 s. */
  readonly timeoutMs?: number
}

/** What became of it. After `completed` the call is over; `canceled`, too, where the caller has hung up before it was told. */
export interface ReferResult {
  readonly kind: 'completed' | 'busy' | 'no-answer' | 'canceled' | 'failed'
  /** Status of the response to REFER; 408 without one. */
  readonly status: number
  /** Last status that a NOTIFY told. */
  readonly notifyStatus?: number
}
