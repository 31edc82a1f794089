import type { Edge } from '../../../media/types.ts'
import type { Leg } from '../leg/leg.ts'
import { twinLegs } from './twin-legs.ts'

/**
 * Joins the other parties of two calls: `first` and `second` are legs of one party and end. `accepted` is
 * called before they end. Resolves to false, with nothing changed, if the join is impossible or a party
 * leaves meanwhile. Rejects if no port can be opened.
 */
export const joinCalls = async (
  edge: Pick<Edge, 'open'>,
  [first, second]: readonly [Leg, Leg],
  now: () => number,
  accepted: () => void,
): Promise<boolean> => {
  const partners = [first.partner, second.partner]
  const twins = await twinLegs(edge, first, second, now)
  if (!twins) return false
  const [here, there] = twins
  // The second leg must not be replaced if the first one cannot be: its other party would be hung up.
  const isUnchanged = first.isAnswered && first.partner === partners[0] && second.partner === partners[1]
  try {
    if (!isUnchanged || !second.replaced(there)) {
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
