import type { Address, PresenceState } from '@trunkline/client'
import { plainAddress } from './format.ts'
import type { RecentCall } from './memory.ts'
import { type Suggestion, suggestionAgain, suggestionOf } from './suggestions.ts'

/** Person that a dialog offers before the user types, with the presence if it is known. */
export interface Offer extends Suggestion {
  readonly presence?: PresenceState | undefined
}

/** Collaborators of {@link offersOf}. */
export interface OfferSources {
  readonly people: readonly Address[]
  readonly recents: readonly RecentCall[]
  /** Returns the presence of an address by its id; undefined if it is unknown. */
  readonly presence: (addressId: string) => PresenceState | undefined
  /** Destinations to leave out, such as that of the user. */
  readonly without: readonly string[]
  /** Names of the parties of the call, who are left out too. */
  readonly parties: readonly string[]
}

const maxOffers = 5

/**
 * Returns the likely targets of a transfer: people who are available, then the latest calls. A destination
 * appears once. People known to be offline or busy are left out.
 */
export const offersOf = ({ people, recents, presence, without, parties }: OfferSources): readonly Offer[] => {
  const known = people.flatMap((address): Offer | [] => {
    const found = suggestionOf(address)
    return found ? { ...found, presence: presence(address.id) } : []
  })
  const left = new Set(without.map(plainAddress))
  for (const { to, presence: state } of known)
    if (state !== undefined && state !== 'online') left.add(plainAddress(to))
  const available = known.filter(({ presence: state }) => state === 'online')
  const offers = new Map<string, Offer>()
  for (const offer of [...available, ...recents.map(suggestionAgain)]) {
    const place = plainAddress(offer.to)
    const isLeft = left.has(place) || parties.includes(offer.name)
    if (place && !isLeft && !offers.has(place)) offers.set(place, offer)
  }
  return [...offers.values()].slice(0, maxOffers)
}
