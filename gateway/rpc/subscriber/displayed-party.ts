import type { TokenIdentity } from '../../auth/token-identity.ts'
import type { Leg } from '../../calls/leg/leg.ts'
import { shownUri } from '../../core/sip-uri.ts'
import type { Party as Named } from '../../model.ts'
import type { CallParty } from './call-parties.ts'

/** A party as a page is shown it. */
export interface DisplayedParty {
  readonly name: string
  readonly number: string
  /** Whose page it is; null: a telephone, or it is not told. */
  readonly subscriberId: string | null
  readonly addressId: string | null
}

/** Name and number of somebody; who asked not to be told (RFC 3323) is anonymous. */
export const nameOf = ({
  uri,
  user,
  name,
  private: hidden,
}: Named): Pick<DisplayedParty, 'name' | 'number'> =>
  hidden
    ? { name: 'Anonymous', number: 'anonymous' }
    : { name: name || user || shownUri(uri), number: uri.startsWith('/') ? uri : user || shownUri(uri) }

/** Where somebody is reached, told under the same condition, and never with a password. */
export const addressOf = (party: Named): string =>
  party.private ? nameOf(party).number : shownUri(party.uri)

/** Who looks at whom. */
export interface Viewer {
  readonly leg: Leg
  readonly identity: TokenIdentity
  /** Who had the page invited; absent: nobody, or the page dialled. */
  readonly caller?: Leg
}

/**
 * Returns the other party as a browser displays it. Guests and invited users, who may reach a few addresses
 * only, see the address that they dialed. The caller that a browser was invited by is shown as in the
 * invitation, which a document may set.
 */
export const displayedTo = (
  { leg, identity, caller }: Viewer,
  other: Pick<CallParty, 'leg' | 'identity'>,
): DisplayedParty => {
  const anonymous = { subscriberId: null, addressId: null }
  if (identity.addressIds) return { ...nameOf(farSideOf(leg)), ...anonymous }
  const own = ownNameOf(other.leg)
  const named = other.leg === caller ? leg.from : own
  const isDisclosed = named.uri === own.uri && !named.private
  const ids = {
    subscriberId: other.identity?.id ?? null,
    addressId: other.identity?.subscriber?.addressId ?? null,
  }
  return { ...nameOf(named), ...(isDisclosed ? ids : anonymous) }
}

/** Whom a leg was made to, or from. */
export const farSideOf = ({ direction, from, to }: Leg): Named => (direction === 'inbound' ? to : from)

const ownNameOf = ({ direction, from, to }: Leg): Named => (direction === 'inbound' ? from : to)
