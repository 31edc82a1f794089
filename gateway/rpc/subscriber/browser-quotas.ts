import type { BrowserLimits, BrowserShare } from '../../../config/types.ts'
import type { TokenIdentity } from '../../auth/token-identity.ts'
import type { Leg } from '../../calls/leg/leg.ts'
import type { Clock } from '../../core/clock.ts'
import type { Code } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../core/metrics.ts'
import { FixedWindowLimiter } from '../../core/rates.ts'
import type { RpcSession } from '../rpc-session.ts'
import type { SignedIn } from './browser-credentials.ts'
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
  readonly of: keyof BrowserLimits | 'page'
  readonly limit: number
}

/** New connection of a browser. */
export interface ConnectionAttempt extends SignedIn {
  /** Whether the connection resumes a session. */
  readonly isKnown: boolean
}

/** Collaborators of {@link BrowserQuotas}. */
export interface BrowserQuotasDeps {
  readonly presence: Pick<Presence, 'of' | 'at'>
  readonly metrics: Pick<Metrics, 'rejections'>
  readonly clock: Pick<Clock, 'now'>
  readonly log: Log
}

interface Scope {
  readonly of: keyof BrowserLimits
  /** Key of the rate counters. */
  readonly key: string
  readonly sessions: () => readonly BrowserSession[]
}

/** Maximum number of keys that are counted per scope. */
const maxKeys = 20_000
const windowMs = 60_000
/** Maximum number of concurrent calls of one session. */
const maxCallsPerPage = 20

/**
 * Quotas of connections and calls per subscriber, token and network. Rejections are counted and logged.
 * Connections per network are limited before the sign-in, by the server.
 */
export class BrowserQuotas {
  readonly #deps: BrowserQuotasDeps
  #limits: BrowserLimits
  readonly #connections: Readonly<Record<keyof BrowserLimits, FixedWindowLimiter>>
  readonly #dials: Readonly<Record<keyof BrowserLimits, FixedWindowLimiter>>

  constructor(deps: BrowserQuotasDeps, limits: Partial<BrowserLimits> = {}) {
    this.#deps = deps
    this.#limits = { ...defaultBrowserQuotas, ...limits }
    this.#connections = countersOf(deps.clock, this.#limits, 'connectionsPerMinute')
    this.#dials = countersOf(deps.clock, this.#limits, 'dialsPerMinute')
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
  checkConnection(attempt: ConnectionAttempt, session: RpcSession): QuotaExceeded | undefined {
    const over = this.#connectionOver(attempt)
    if (!over) return undefined
    this.#deps.metrics.rejections.inc({ code: over.code })
    this.#deps.log.warn(
      {
        event: 'browser.over-quota',
        ...over,
        session: session.id,
        subscriber: attempt.identity.id,
        network: session.network,
      },
      'browser over its quota rejected',
    )
    return over
  }

  /** Counts a dial. Returns the reason for rejecting it, or undefined. */
  checkDial(browser: BrowserSession): QuotaExceeded | undefined {
    const over = this.#dialOver(browser)
    if (!over) return undefined
    const { identity, network, calls } = browser
    this.#deps.metrics.rejections.inc({ code: over.code })
    this.#deps.log.warn(
      { event: 'browser.dial-over-quota', ...over, subscriber: identity.id, network, calls: calls.size },
      'dial over the quota rejected',
    )
    return over
  }

  /**
   * Returns the reason for rejecting a call to a subscriber, or undefined. `ringing`: calls that ring for the
   * subscriber and do not belong to a session yet.
   */
  checkRinging(leg: Leg, subscriber: string, ringing: Iterable<SessionCall>): QuotaExceeded | undefined {
    const of = 'perSubscriber'
    const { calls: limit } = this.#limits[of]
    const calls = callsOf(this.#deps.presence.of(subscriber).filter(isSubscribers))
    for (const call of ringing) calls.add(call)
    if (calls.size < limit) return undefined
    const over = { code: 'over_call_limit', of, limit } as const
    this.#deps.metrics.rejections.inc({ code: over.code })
    this.#deps.log.warn(
      { event: 'browser.ringing-rejected', ...over, leg: leg.id, subscriber },
      'call to a subscriber rejected',
    )
    return over
  }

  #connectionOver({ identity, token, isKnown }: ConnectionAttempt): QuotaExceeded | undefined {
    for (const { of, key, sessions } of this.#scopes(identity, token.id)) {
      const { connections, connectionsPerMinute } = this.#limits[of]
      if (this.#connections[of].take(key) > 0)
        return { code: 'too_many_requests', of, limit: connectionsPerMinute }
      if (!isKnown && sessions().length >= connections)
        return { code: 'over_connection_limit', of, limit: connections }
    }
    return undefined
  }

  #dialOver({ calls: own, identity, accessTokenId, network }: BrowserSession): QuotaExceeded | undefined {
    if (own.size >= maxCallsPerPage) return { code: 'over_call_limit', of: 'page', limit: maxCallsPerPage }
    const sessions = () => this.#deps.presence.at(network)
    const ofAddress: Scope = { of: 'perAddress', key: network, sessions }
    for (const { of, key, sessions } of [...this.#scopes(identity, accessTokenId), ofAddress]) {
      const { calls, dialsPerMinute } = this.#limits[of]
      if (callsOf(sessions()).size >= calls) return { code: 'over_call_limit', of, limit: calls }
      if (this.#dials[of].take(key) > 0) return { code: 'too_many_requests', of, limit: dialsPerMinute }
    }
    return undefined
  }

  #scopes({ kind, id, key }: TokenIdentity, tokenId: string): Scope[] {
    const sessions = () => this.#deps.presence.of(id).filter(({ identity }) => identity.key === key)
    const withToken = () => sessions().filter(({ accessTokenId }) => accessTokenId === tokenId)
    if (kind !== 'subscriber') return [{ of: 'perGuestToken', key: tokenId, sessions: withToken }]
    return [
      { of: 'perSubscriber', key: id, sessions },
      { of: 'perToken', key: tokenId, sessions: withToken },
    ]
  }
}

const isSubscribers = ({ identity }: BrowserSession): boolean => identity.kind === 'subscriber'

/**
 * Returns the distinct calls of sessions. Compares the objects, not the ids: two browsers may choose the same
 * id.
 */
const callsOf = (sessions: readonly BrowserSession[]): Set<SessionCall> =>
  new Set(sessions.flatMap(({ calls }) => [...calls.values()]))

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
