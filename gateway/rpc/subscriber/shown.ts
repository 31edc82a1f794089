import type { TokenHolder } from '../../auth/holders.ts'
import type { Leg } from '../../calls/leg/leg.ts'
import { shownUri } from '../../core/sip-uri.ts'
import type { Party as Named } from '../../model.ts'
import type { Party } from './parties.ts'

/** A party as a page is shown it. */
export interface Shown {
  readonly name: string
  readonly number: string
  /** Whose page it is; null: a telephone, or it is not told. */
  readonly subscriberId: string | null
  readonly addressId: string | null
}

/** Name and number of somebody; who asked not to be told (RFC 3323) is anonymous. */
export const nameOf = ({ uri, user, name, private: hidden }: Named): Pick<Shown, 'name' | 'number'> =>
  hidden
    ? { name: 'Anonymous', number: 'anonymous' }
    : { name: name || user || shownUri(uri), number: uri.startsWith('/') ? uri : user || shownUri(uri) }

/** Where somebody is reached, told under the same condition, and never with a password. */
export const addressOf = (party: Named): string =>
  party.private ? nameOf(party).number : shownUri(party.uri)

/** Who looks at whom. */
export interface Look {
  readonly leg: Leg
  readonly holder: TokenHolder
  /** Who had the page invited; absent: nobody, or the page dialled. */
  readonly caller?: Leg
}

/**
 * The other party as a page is shown it. Guests, and who was invited, may reach a few addresses and learn of no others: they are shown what they
 * dialled. Whoever had the page invited is shown as the invitation said, which a document may have chosen.
 */
export const shownTo = ({ leg, holder, caller }: Look, other: Pick<Party, 'leg' | 'holder'>): Shown => {
  const nobody = { subscriberId: null, addressId: null }
  if (holder.addressIds) return { ...nameOf(farSideOf(leg)), ...nobody }
  const own = ownNameOf(other.leg)
  const named = other.leg === caller ? leg.from : own
  const told = named.uri === own.uri && !named.private
  const identity = {
    subscriberId: other.holder?.id ?? null,
    addressId: other.holder?.subscriber?.addressId ?? null,
  }
  return { ...nameOf(named), ...(told ? identity : nobody) }
}

/** Whom a leg was made to, or from. */
export const farSideOf = ({ direction, from, to }: Leg): Named => (direction === 'inbound' ? to : from)

const ownNameOf = ({ direction, from, to }: Leg): Named => (direction === 'inbound' ? from : to)
