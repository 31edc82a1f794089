import type { Cause } from '../../core/errors/catalogue.ts'
import type { Addition } from './addition.ts'
import type { Leg } from './leg.ts'
import type { Referral } from './referral.ts'

/**
 * State of a leg: `new → early → answered → ended`. A leg never returns to an earlier state, and reaches
 * `ended` exactly once.
 */
export type LegState =
  | { readonly kind: 'new' }
  | { readonly kind: 'early' }
  | { readonly kind: 'answered'; readonly at: number }
  | { readonly kind: 'ended'; readonly cause: Cause; readonly by: 'far' | 'us' }

/** Receives the progress of a leg up to its answer. */
export interface LegProgressListener {
  /** The far side is ringing. `hasMedia`: its audio can be heard already. */
  legEarly(leg: Leg, hasMedia: boolean): void
  legAnswered(leg: Leg): void
}

/** Receives digits, holds and transfers of the far side of a leg. */
export interface LegInputListener {
  legDigit(leg: Leg, digit: string): void
  /**
   * The far side has held or resumed, or the gateway has held or resumed the far side. Called for changes
   * only. The audio is parted only while {@link Leg.isHeld}.
   */
  legHeld(leg: Leg, isHeld: boolean): void
  /** The far side transfers the other party. Returns false, or is absent, without a party to transfer. */
  legReferred(leg: Leg, referral: Referral): boolean
  /** The far side adds a person. Returns false, or is absent, without another party. */
  legAdds(leg: Leg, addition: Addition): boolean
  /**
   * `by` replaces an answered leg, which ends (RFC 3891). Returns false, or is absent, if it cannot be
   * replaced.
   */
  legReplaced(leg: Leg, by: Leg): boolean
}

/** Owner of a leg. Implements the callbacks that it needs. */
export interface LegOwner extends Partial<LegProgressListener>, Partial<LegInputListener> {
  legEnded?(leg: Leg): void
}
