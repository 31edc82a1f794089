import type { Edge } from '../../../media/types.ts'
import type { Leg } from '../leg/leg.ts'
import { twinLegs } from './twin-legs.ts'

/**
 * Joins the other parties of two calls: `first` and `second` are legs of one party and end. `accepted` is
 * called before they end. Resolves to false, with nothing changed, if the join is impossible. Rejects if no
 * port can be opened.
 */
export const joinCalls = async (
  edge: Pick<Edge, 'open'>,
  [first, second]: readonly [Leg, Leg],
  now: () => number,
  accepted: () => void,
): Promise<boolean> => {
  const twins = await twinLegs(edge, first, second, now)
  if (!twins) return false
  const [here, there] = twins
  try {
    if (!second.replaced(there)) {
      here.end({ code: 'canceled' })
      return false
    }
    accepted()
    if (!first.replaced(here)) here.end({ code: 'normal' })
    return true
  } catch (error) {
    // This also ends the other leg of the pair.
    here.end({ code: 'internal' })
    throw error
  }
}
