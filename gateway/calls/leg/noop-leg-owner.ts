import type { LegOwner } from './leg.ts'

/** Owner of a leg that no call handles any more. */
export const noopLegOwner: LegOwner = {}
