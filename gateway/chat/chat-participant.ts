import type { SubscriberToken } from '../auth/token-claims.ts'
import { mayReach, type TokenIdentity } from '../auth/token-identity.ts'
import { TrunklineError } from '../core/errors/catalogue.ts'

/** Who takes part in conversations: a subscriber, by their address, or a guest, who has none. */
export interface ChatParticipant {
  /** Of the subscriber, or of the guest. */
  readonly id: string
  readonly projectId: string
  /** Absent: a guest. */
  readonly addressId?: string
  /** When a guest's token ends, in ms since the Unix epoch. */
  readonly endsAt?: number
  readonly mayReach: (addressId: string) => boolean
}

/**
 * The one who holds a token. Throws `not_permitted` for who was invited: they call on a subscriber's behalf,
 * and are not to read their messages.
 */
export const chatParticipantOf = (
  holder: Pick<TokenIdentity, 'kind' | 'id' | 'projectId' | 'subscriber' | 'addressIds'>,
  token: Pick<SubscriberToken, 'expiresAt'>,
): ChatParticipant => {
  const { kind, id, projectId, subscriber } = holder
  if (kind === 'invite') throw new TrunklineError('not_permitted', 'Who was invited has no conversations.')
  const reach = { id, projectId, mayReach: (addressId: string) => mayReach(holder, addressId) }
  return subscriber
    ? { ...reach, addressId: subscriber.addressId }
    : { ...reach, endsAt: token.expiresAt * 1000 }
}
