import type { Cause } from '../../core/errors/catalogue.ts'
import type { Leg } from './leg.ts'
import type { Referral } from './referral.ts'

/** `new → early → answered → ended`; a state is never left backwards, and `ended` is reached exactly once. */
export type LegState =
  | { readonly kind: 'new' }
  | { readonly kind: 'early' }
  | { readonly kind: 'answered'; readonly at: number }
  | { readonly kind: 'ended'; readonly cause: Cause; readonly by: 'far' | 'us' }

/** The call that owns a leg. */
export interface LegOwner {
  /** The far side is ringing; `media` says that its audio can be heard already. */
  legEarly(leg: Leg, media: boolean): void
  legAnswered(leg: Leg): void
  legDigit(leg: Leg, digit: string): void
  /** The far side put us on hold, or took us back, or we did so with it; told of changes alone. Only a leg that {@link Leg.isHeld} is to be parted. */
  legHeld(leg: Leg, held: boolean): void
  legEnded(leg: Leg): void
  /** The far side wants the other party to talk to somebody else. False, or absent: there is nobody to transfer. */
  legReferred?(leg: Leg, referral: Referral): boolean
  /** `by` takes the place of an answered leg, which is ended (RFC 3891). False, or absent: it cannot be replaced. */
  legReplaced?(leg: Leg, by: Leg): boolean
}
