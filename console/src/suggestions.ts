import type { Address } from '@trunkline/client'
import { plainAddress, readableName, readableNumber } from './format.ts'
import type { RecentCall } from './memory.ts'
import { dialled } from './people.ts'

/** Suggestion while the user types a destination. */
export interface Suggestion {
  readonly name: string
  /** Destination to call. */
  readonly to: string
  /** Number or SIP URI as shown; empty for an address of the gateway. */
  readonly number: string
  readonly from: 'people' | 'history'
}

const maxSuggestions = 6

/** Returns the suggestion of an address; undefined if it cannot be called. */
export const suggestionOf = (address: Address): Suggestion | undefined => {
  const to = dialled(address, false)
  return to ? { name: address.display_name, to, number: '', from: 'people' } : undefined
}

/** Returns the suggestion of a past call. */
export const suggestionAgain = ({ name, to }: RecentCall): Suggestion => ({
  name: readableName(name),
  to,
  number: readableNumber(to, name),
  from: 'history',
})

/**
 * Returns the suggestions for a typed text: matching past calls and people, each destination once. `self` is
 * the own address, which is left out.
 */
export const suggest = (
  typed: string,
  recents: readonly RecentCall[],
  people: readonly Address[],
  self: string,
): readonly Suggestion[] => {
  const text = typed.trim().toLowerCase()
  if (!text) return []
  const digits = text.replaceAll(/[\s().-]/g, '')
  const fits = (name: string, to: string): boolean =>
    name.toLowerCase().includes(text) || (digits.length > 1 && to.toLowerCase().includes(digits))
  const known = people
    .filter((address) => fits(address.display_name, address.name))
    .flatMap((address) => suggestionOf(address) ?? [])
  const past = recents.filter(({ name, to }) => fits(name, to)).map(suggestionAgain)
  const byPlace = new Map<string, Suggestion>()
  for (const found of [...known, ...past]) {
    const place = plainAddress(found.to)
    if (place !== self && !byPlace.has(place)) byPlace.set(place, found)
  }
  return [...byPlace.values()].slice(0, maxSuggestions)
}
