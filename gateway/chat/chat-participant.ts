import type { SubscriberToken } from '../auth/token-claims.ts'
import { mayReach, type TokenIdentity } from '../auth/token-identity.ts'
import { TrunklineError } from '../core/errors/catalogue.ts'

/** Participant of conversations: a subscriber with an address, or a guest without one. */
export interface ChatParticipant {
  /** Id of the subscriber or guest. */
  readonly id: string
  readonly projectId: string
  /** Address of the subscriber; absent for a guest. */
  readonly addressId?: string
  /** Expiry of a guest's token, in ms since the Unix epoch. */
  readonly endsAt?: number
  readonly mayReach: (addressId: string) => boolean
}

/**
 * Returns the holder of a token. Throws `not_permitted` for an invite's token: its caller must not read the
 * inviting subscriber's messages.
 */
export const chatParticipantOf = (
  holder: Pick<TokenIdentity, 'kind' | 'id' | 'projectId' | 'subscriber' | 'addressIds'>,
  token: Pick<SubscriberToken, 'expiresAt'>,
): ChatParticipant => {
  const { kind, id, projectId, subscriber } = holder
  if (kind === 'invite') throw new TrunklineError('not_permitted', 'Invited persons have no conversations.')
  const reach = { id, projectId, mayReach: (addressId: string) => mayReach(holder, addressId) }
  return subscriber
    ? { ...reach, addressId: subscriber.addressId }
    : { ...reach, endsAt: token.expiresAt * 1000 }
}
