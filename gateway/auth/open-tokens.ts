import type { Clock } from '../core/clock.ts'
import type { Directory } from '../directory/directory.ts'
import type { News } from '../directory/store/engine.ts'
import { ConferenceTokenRows } from '../directory/tables/conference-tokens.ts'
import { RefreshTokenRows } from '../directory/tables/refresh-tokens.ts'
import { RevokedTokenRows } from '../directory/tables/revoked-tokens.ts'
import { ConferenceTokens } from './conference-tokens.ts'
import { Revocations } from './revocations.ts'
import { RoomTokens } from './room-tokens.ts'
import { SubscriberTokens } from './subscriber-tokens.ts'
import { TokenPairs } from './token-pairs.ts'

/** Services for tokens of browsers. */
export interface OpenTokens {
  readonly tokens: SubscriberTokens
  readonly roomTokens: RoomTokens
  readonly conferenceTokens: ConferenceTokens
  readonly revocations: Revocations
  readonly pairs: TokenPairs
}

/** Settings of {@link openTokens}. */
export interface TokenOptions {
  /** The gateway's secret. */
  readonly secret: Uint8Array
  readonly clock: Pick<Clock, 'now'>
  /** Host for the browser SDK. */
  readonly publicHost?: string
}

/**
 * Opens the tokens of a directory. When a subscriber changes or is removed, the subscriber's tokens are
 * checked again. Revocations by other gateways on the same database apply too.
 */
export const openTokens = async (
  directory: Pick<Directory, 'store' | 'subscriber' | 'onResources' | 'onElsewhere'>,
  { secret, clock, publicHost }: TokenOptions,
): Promise<OpenTokens> => {
  const { store } = directory
  const tokensAfter = (id: string): number => {
    const subscriber = directory.subscriber(id)
    return !subscriber || subscriber.disabled ? Number.POSITIVE_INFINITY : subscriber.tokensAfter
  }
  const rows = new RevokedTokenRows(store)
  const revocations = await Revocations.open({ rows, tokensAfter, now: () => clock.now() })
  directory.onResources((ids) => revocations.changed(ids))
  directory.onElsewhere((news) => applyNews(revocations, news))
  const tokens = new SubscriberTokens(secret, clock, publicHost, revocations)
  const roomTokens = new RoomTokens({ secret, publicHost }, { clock, revocations })
  const conferences = { rows: new ConferenceTokenRows(store, clock), revocations, clock }
  const conferenceTokens = new ConferenceTokens(secret, conferences)
  const pairs = new TokenPairs({
    tokens,
    roomTokens,
    conferenceTokens,
    rows: new RefreshTokenRows(store),
    revocations,
    clock,
  })
  return { tokens, roomTokens, conferenceTokens, revocations, pairs }
}

const applyNews = async (revocations: Revocations, news: News): Promise<void> => {
  if (news === 'anything') await revocations.reload()
  else if (news.kind === 'revoked_token') await revocations.learn(news.id)
}
