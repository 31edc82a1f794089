import type { ReferResult } from '../../../handlers/verbs.ts'
import type { Leg } from './leg.ts'

/** The far side of a leg wants the other party to talk to somebody else (RFC 3515). */
export interface Referral {
  /** Whom: a SIP URI, a number, or an address. */
  readonly to: string
  /** Who says so (RFC 3892): the value of Referred-By, which whoever is called is told, too. */
  readonly referredBy?: string
  /** Told how it goes: provisional SIP statuses, and then one final one. */
  progress(status: number): void
  /** Told once when the leg that it led to is gone, or that it leads to none. Not called where it was refused at once. */
  over?(): void
}

/** Tells how a referral ended: `found` answered, or nobody did. */
export const settleReferral = (referral: Referral, status: number, found?: Leg): void => {
  referral.progress(status)
  const over = () => referral.over?.()
  if (found) found.whenGone(over)
  else over()
}

/** How a far side is asked to talk to somebody else. */
export interface ReferOptions {
  /** Who asks (RFC 3892): a SIP URI; default: nobody is named. */
  readonly referredBy?: string
  /** Longest wait for the outcome, in ms; default 60 s. */
  readonly timeoutMs?: number
  /** Shown where the far side asks for them, whatever its realm: whoever gives them means the far side. */
  readonly credentials?: { readonly username: string; readonly password: string }
}

/** What became of it; `status` is that of the response, 408 where none came. After `completed` the leg is ended. */
export type ReferOutcome = ReferResult
