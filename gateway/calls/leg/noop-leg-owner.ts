import type { LegOwner } from './leg.ts'

/** Hears of a leg that belongs to nobody any more. */
export const noopLegOwner: LegOwner = {
  legEarly: () => {},
  legAnswered: () => {},
  legDigit: () => {},
  legHeld: () => {},
  legEnded: () => {},
}
