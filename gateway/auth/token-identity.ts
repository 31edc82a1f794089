import type { Directory, Subscriber } from '../directory/types.ts'
import type { SubscriberToken, TokenKind } from './token-claims.ts'

/** Who acts by a subscriber access token, and what that one may do. */
export interface TokenIdentity {
  readonly kind: TokenKind
  /** Of the subscriber; of guests one of their own. */
  readonly id: string
  /** The same for all tokens of one holder, and of nobody else's: what a page is known by. */
  readonly key: string
  readonly projectId: string
  /** Where calls are shown to come from. */
  readonly address: string
  readonly displayName: string
  readonly mayDialOut: boolean
  /** Ids of the only addresses that can be seen and called; absent: all. */
  readonly addressIds?: ReadonlySet<string>
  /** Absent of guests. */
  readonly subscriber?: Subscriber
}

/** Where guests are shown to call from. */
const guestAddress = '/guest'

/** Who holds a token; undefined where the subscriber does not exist in its project any more. */
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

/** Whether the holder may see and call an address. */
export const mayReach = ({ addressIds }: Pick<TokenIdentity, 'addressIds'>, addressId: string): boolean =>
  addressIds?.has(addressId) ?? true
