import type { TokenIdentity } from '../../auth/token-identity.ts'
import type { Leg } from '../../calls/leg/leg.ts'
import { shownUri } from '../../core/sip-uri.ts'
import type { Party as Named } from '../../model.ts'
import type { CallParty } from './call-parties.ts'

/** Party as a browser displays it. */
export interface DisplayedParty {
  readonly name: string
  readonly number: string
  /** Subscriber of the party; null for telephones and undisclosed parties. */
  readonly subscriberId: string | null
  readonly addressId: string | null
}

/** Returns the name and number of a party; anonymous if it requested privacy (RFC 3323). */
export const nameOf = ({
  uri,
  user,
  name,
  private: hidden,
}: Named): Pick<DisplayedParty, 'name' | 'number'> =>
  hidden
    ? { name: 'Anonymous', number: 'anonymous' }
    : { name: name || user || shownUri(uri), number: uri.startsWith('/') ? uri : user || shownUri(uri) }

/** Returns the address of a party without a password; anonymous if it requested privacy. */
export const addressOf = (party: Named): string =>
  party.private ? nameOf(party).number : shownUri(party.uri)

/** Names of parties for a browser, in place of their own: a document may have set that of the caller. */
export type ShownNames = ReadonlyMap<Leg, Named>

/** Browser to which a party is displayed. */
export interface Viewer {
  readonly leg: Leg
  readonly identity: TokenIdentity
  /** Names that the browser sees in place of the parties' own. */
  readonly names: ShownNames
}

/**
 * Returns the other party as a browser displays it. Guests and invited users, who may reach a few addresses
 * only, see the address that they dialed. A party with another name in {@link Viewer.names} stays unknown
 * otherwise.
 */
export const displayedTo = (
  { leg, identity, names }: Viewer,
  other: Pick<CallParty, 'leg' | 'identity'>,
): DisplayedParty => {
  const anonymous = { subscriberId: null, addressId: null }
  if (identity.addressIds) return { ...nameOf(farSideOf(leg)), ...anonymous }
  const own = ownNameOf(other.leg)
  const named = names.get(other.leg) ?? own
  const isDisclosed = named.uri === own.uri && !named.private
  const ids = {
    subscriberId: other.identity?.id ?? null,
    addressId: other.identity?.subscriber?.addressId ?? null,
  }
  return { ...nameOf(named), ...(isDisclosed ? ids : anonymous) }
}

/** Returns the far side of a leg. */
export const farSideOf = ({ direction, from, to }: Leg): Named => (direction === 'inbound' ? to : from)

const ownNameOf = ({ direction, from, to }: Leg): Named => (direction === 'inbound' ? from : to)
