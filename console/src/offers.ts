import type { Address, PresenceState } from '@trunkline/client'
import { plainAddress, readableName, readableNumber } from './format.ts'
import type { RecentCall } from './memory.ts'
import { dialled } from './people.ts'
import type { Suggestion } from './suggestions.ts'

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
  const known = people.flatMap((address): readonly Offer[] => {
    const to = dialled(address, false)
    const name = address.display_name
    return to ? [{ name, to, number: '', from: 'people', presence: presence(address.id) }] : []
  })
  const past = recents.map(
    ({ name, to }): Offer => ({
      name: readableName(name),
      to,
      number: readableNumber(to, name),
      from: 'history',
    }),
  )
  const left = new Set(without.map(plainAddress))
  for (const { to, presence: state } of known)
    if (state !== undefined && state !== 'online') left.add(plainAddress(to))
  const available = known.filter(({ presence: state }) => state === 'online')
  const offers = new Map<string, Offer>()
  for (const offer of [...available, ...past]) {
    const place = plainAddress(offer.to)
    const isLeft = left.has(place) || parties.includes(offer.name)
    if (place && !isLeft && !offers.has(place)) offers.set(place, offer)
  }
  return [...offers.values()].slice(0, maxOffers)
}
