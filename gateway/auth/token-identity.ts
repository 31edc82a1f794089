import type { Directory } from '../directory/directory.ts'
import type { Subscriber } from '../directory/model/callers.ts'
import type { RoomGrant, RoomToken } from './room-token-claims.ts'
import type { SubscriberToken, TokenKind } from './token-claims.ts'

/** Identity of an access token, with its permissions. */
export interface TokenIdentity {
  readonly kind: TokenKind | RoomToken['kind']
  /** Id of the subscriber; for a guest or the holder of a room token, an id of its own. */
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
  /** Absent for guests and room tokens. */
  readonly subscriber?: Subscriber
  /** Rights in the one room of a room token; absent for other tokens. */
  readonly room?: RoomGrant
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

/** Returns the identity of a room token. Its holder calls nothing but the room. */
export const roomIdentityOf = ({ kind, subscriberId: id, projectId, grant }: RoomToken): TokenIdentity => ({
  kind,
  id,
  key: id,
  projectId,
  address: guestAddress,
  displayName: grant.userName || 'Guest',
  mayDialOut: false,
  addressIds: new Set(),
  room: grant,
})

/** Returns whether an identity may see and call an address. */
export const mayReach = ({ addressIds }: Pick<TokenIdentity, 'addressIds'>, addressId: string): boolean =>
  addressIds?.has(addressId) ?? true
