import type { BrowserLimits, BrowserShare } from '../../../config/types.ts'
import type { TokenIdentity } from '../../auth/token-identity.ts'
import type { Clock } from '../../core/clock.ts'
import type { Code } from '../../core/errors/catalogue.ts'
import { FixedWindowLimiter } from '../../core/rates.ts'
import type { BrowserSession, SessionCall } from './browser-session.ts'
import type { Presence } from './presence.ts'

/** Default quotas. */
export const defaultBrowserQuotas: BrowserLimits = {
  perSubscriber: { connections: 200, connectionsPerMinute: 5_000, calls: 100, dialsPerMinute: 300 },
  perToken: { connections: 200, connectionsPerMinute: 5_000, calls: 100, dialsPerMinute: 300 },
  perGuestToken: { connections: 20, connectionsPerMinute: 300, calls: 10, dialsPerMinute: 60 },
  perAddress: { connections: 1_000, connectionsPerMinute: 20_000, calls: 1_000, dialsPerMinute: 3_000 },
}

/** Reason for rejecting a connection or call. */
export interface QuotaExceeded {
  readonly code: Extract<Code, 'over_connection_limit' | 'over_call_limit' | 'too_many_requests'>
  /** Scope of the reached limit. */
  readonly of: keyof BrowserLimits
  readonly limit: number
}

/** New connection of a browser. */
export interface ConnectionAttempt {
  readonly identity: TokenIdentity
  readonly tokenId: string
  /** Whether the connection resumes a session. */
  readonly isKnown: boolean
}

interface Scope {
  readonly of: keyof BrowserLimits
  /** Key of the rate counters. */
  readonly key: string
  readonly pages: () => readonly BrowserSession[]
}

/** Maximum number of keys that are counted per scope. */
const maxKeys = 20_000
const windowMs = 60_000

/**
 * Quotas of connections and calls per subscriber, token and network. Connections per network are limited
 * before the sign-in, by the server.
 */
export class BrowserQuotas {
  #limits: BrowserLimits
  readonly #presence: Pick<Presence, 'of' | 'at'>
  readonly #connections: Readonly<Record<keyof BrowserLimits, FixedWindowLimiter>>
  readonly #dials: Readonly<Record<keyof BrowserLimits, FixedWindowLimiter>>

  constructor(
    clock: Pick<Clock, 'now'>,
    presence: Pick<Presence, 'of' | 'at'>,
    limits: Partial<BrowserLimits> = {},
  ) {
    this.#presence = presence
    this.#limits = { ...defaultBrowserQuotas, ...limits }
    this.#connections = countersOf(clock, this.#limits, 'connectionsPerMinute')
    this.#dials = countersOf(clock, this.#limits, 'dialsPerMinute')
  }

  /** Changes the quotas; present sessions and calls stay. */
  change(limits: BrowserLimits): void {
    this.#limits = limits
    for (const of of Object.keys(limits) as (keyof BrowserLimits)[]) {
      this.#connections[of].change(limits[of].connectionsPerMinute)
      this.#dials[of].change(limits[of].dialsPerMinute)
    }
  }

  /** Number of subscribers, tokens and networks with rate counters. */
  get counted(): number {
    const all = [...Object.values(this.#connections), ...Object.values(this.#dials)]
    return all.reduce((sum, { size }) => sum + size, 0)
  }

  /** Counts a connection. Returns the reason for rejecting it, or undefined. */
  checkConnection({ identity, tokenId, isKnown: known }: ConnectionAttempt): QuotaExceeded | undefined {
    for (const { of, key, pages } of this.#scopes(identity, tokenId)) {
      const { connections, connectionsPerMinute } = this.#limits[of]
      if (this.#connections[of].take(key) > 0)
        return { code: 'too_many_requests', of, limit: connectionsPerMinute }
      if (!known && pages().length >= connections)
        return { code: 'over_connection_limit', of, limit: connections }
    }
    return undefined
  }

  /** Counts a dial. Returns the reason for rejecting it, or undefined. */
  checkDial({ identity, accessTokenId, network }: BrowserSession): QuotaExceeded | undefined {
    const ofAddress: Scope = { of: 'perAddress', key: network, pages: () => this.#presence.at(network) }
    for (const { of, key, pages } of [...this.#scopes(identity, accessTokenId), ofAddress]) {
      const { calls, dialsPerMinute } = this.#limits[of]
      if (callsOf(pages()).size >= calls) return { code: 'over_call_limit', of, limit: calls }
      if (this.#dials[of].take(key) > 0) return { code: 'too_many_requests', of, limit: dialsPerMinute }
    }
    return undefined
  }

  /**
   * Returns the reason for rejecting a call to a subscriber, or undefined. `outboundLegs` ring besides the
   * calls of sessions.
   */
  checkRinging(subscriberId: string, outboundLegs: Iterable<SessionCall>): QuotaExceeded | undefined {
    const of = 'perSubscriber'
    const { calls: limit } = this.#limits[of]
    const calls = callsOf(this.#presence.of(subscriberId).filter(isSubscribers))
    for (const call of outboundLegs) calls.add(call)
    return calls.size >= limit ? { code: 'over_call_limit', of, limit } : undefined
  }

  #scopes({ kind, id, key }: TokenIdentity, tokenId: string): Scope[] {
    const pages = () => this.#presence.of(id).filter(({ identity }) => identity.key === key)
    const withToken = () => pages().filter(({ accessTokenId }) => accessTokenId === tokenId)
    if (kind !== 'subscriber') return [{ of: 'perGuestToken', key: tokenId, pages: withToken }]
    return [
      { of: 'perSubscriber', key: id, pages },
      { of: 'perToken', key: tokenId, pages: withToken },
    ]
  }
}

const isSubscribers = ({ identity }: BrowserSession): boolean => identity.kind === 'subscriber'

/**
 * Returns the distinct calls of sessions. Ids are not compared: browsers choose them, and may choose the
 * same.
 */
const callsOf = (pages: readonly BrowserSession[]): Set<SessionCall> =>
  new Set(pages.flatMap(({ calls }) => [...calls.values()]))

const countersOf = (
  clock: Pick<Clock, 'now'>,
  limits: BrowserLimits,
  what: keyof Pick<BrowserShare, 'connectionsPerMinute' | 'dialsPerMinute'>,
): Record<keyof BrowserLimits, FixedWindowLimiter> => {
  const counter = (of: keyof BrowserLimits) =>
    new FixedWindowLimiter(clock, { attempts: limits[of][what], windowMs, keys: maxKeys })
  return {
    perSubscriber: counter('perSubscriber'),
    perToken: counter('perToken'),
    perGuestToken: counter('perGuestToken'),
    perAddress: counter('perAddress'),
  }
}
