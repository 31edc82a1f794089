import type { Directory } from '../directory/directory.ts'
import type { Subscriber } from '../directory/model/callers.ts'
import type { SubscriberToken, TokenKind } from './token-claims.ts'

/** Identity of a subscriber access token, with its permissions. */
export interface TokenIdentity {
  readonly kind: TokenKind
  /** Id of the subscriber; for a guest, the guest's own id. */
  readonly id: string
  /** Key of the identity: equal for all tokens of the identity, and unique among identities. */
  readonly key: string
  readonly projectId: string
  /** Address that is shown as the caller. */
  readonly address: string
  readonly displayName: string
  readonly mayDialOut: boolean
  /** Ids of the addresses that the identity may see and call; absent: all. */
  readonly addressIds?: ReadonlySet<string>
  /** Absent for guests. */
  readonly subscriber?: Subscriber
}

/** Address that is shown as the caller of a guest. */
const guestAddress = '/guest'

/** Returns the identity of a token; undefined if the subscriber no longer exists in its project. */
export const identityOf = (
  { kind, subscriberId: id, projectId, addressIds }: SubscriberToken,
  directory: Pick<Directory, 'subscriber'>,
): TokenIdentity | undefined => {
  const limits = addressIds && { addressIds: new Set(addressIds) }
  if (kind === 'guest') {
    const shown = { address: guestAddress, displayName: 'Guest', mayDialOut: false }
    return { kind, id, key: `guest ${id}`, projectId, ...shown, ...limits }
  }
  const subscriber = directory.subscriber(id)
  if (subscriber?.projectId !== projectId) return undefined
  const { address, displayName } = subscriber
  const mayDialOut = kind === 'subscriber' && subscriber.mayDialOut
  const key = kind === 'subscriber' ? id : `invite ${id} ${addressIds?.join(' ')}`
  return { kind, id, key, projectId, address, displayName, mayDialOut, subscriber, ...limits }
}

/** Returns whether an identity may see and call an address. */
export const mayReach = ({ addressIds }: Pick<TokenIdentity, 'addressIds'>, addressId: string): boolean =>
  addressIds?.has(addressId) ?? true
