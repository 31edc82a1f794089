import type { SubscriberTokens } from '../../auth/subscriber-tokens.ts'
import type { SteadyClock, Timer } from '../../core/clock.ts'
import { catalogue } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../core/metrics.ts'
import { closeCodes } from '../rpc-session.ts'
import type { SignedIn } from './browser-credentials.ts'
import { BrowserSession, type SessionLimits, type SlowSession } from './browser-session.ts'

/** Limits of browser sessions. */
export interface PresenceLimits extends SessionLimits {
  /** Time that a disconnected browser has to reconnect, in milliseconds. */
  readonly graceMs: number
}

/** Default limits of browser sessions. */
export const defaultPresenceLimits: PresenceLimits = {
  graceMs: 20_000,
  unacknowledged: 1_000,
  acknowledgeMs: 60_000,
}

/** Collaborators of {@link Presence}. */
export interface PresenceDeps {
  /** Name of this gateway in the dialect. */
  readonly nodeId: string
  readonly tokens: Pick<SubscriberTokens, 'isRevoked'>
  readonly metrics: Pick<Metrics, 'rejections'>
  readonly clock: SteadyClock
  readonly log: Log
}

/** Called when a browser starts to receive calls. */
export type OnlineListener = (
  browser: BrowserSession,
  /** Whether the browser requested to be online. Such a browser does not know of any ringing call yet. */
  isRequested: boolean,
) => void

/**
 * Number of unacknowledged events up to which a session also receives events whose content it could fetch
 * later.
 */
const maxWaiting = 50

/** Known browser sessions, and which of them receive calls. */
export class Presence {
  readonly #deps: PresenceDeps
  #limits: PresenceLimits
  readonly #browsers = new Map<string, BrowserSession>()
  readonly #bySubscriber = new Map<string, Set<BrowserSession>>()
  readonly #graces = new Map<BrowserSession, Timer>()
  readonly #onOnline: OnlineListener[] = []
  #onChange: (browser: BrowserSession) => void = () => {}

  constructor(deps: PresenceDeps, limits: Partial<PresenceLimits> = {}) {
    this.#deps = deps
    this.#limits = { ...defaultPresenceLimits, ...limits }
  }

  /** Changes the limits; known sessions keep theirs. */
  change(limits: SessionLimits): void {
    this.#limits = { ...this.#limits, ...limits }
  }

  /** Number of sessions, including those that may reconnect. */
  get browsers(): number {
    return this.#browsers.size
  }

  /** Number of subscribers with at least one session that receives calls. */
  get subscribersOnline(): number {
    let online = 0
    for (const id of this.#bySubscriber.keys()) if (this.online(id).length > 0) online++
    return online
  }

  find(protocol: string): BrowserSession | undefined {
    return this.#browsers.get(protocol)
  }

  /** Returns the sessions of a subscriber or guest, with those of users that the subscriber invited. */
  of(holderId: string): readonly BrowserSession[] {
    return [...(this.#bySubscriber.get(holderId) ?? [])]
  }

  /** Returns the sessions whose last connection came from a network. */
  at(network: string): readonly BrowserSession[] {
    return [...this.#browsers.values()].filter((browser) => browser.network === network)
  }

  /** Returns the sessions of a subscriber that receive calls. */
  online(subscriberId: string): readonly BrowserSession[] {
    return this.of(subscriberId).filter((browser) => browser.isOnline && browser.isAuthorized)
  }

  /** Calls a listener for each browser that starts to receive calls. */
  onOnline(listener: OnlineListener): void {
    this.#onOnline.push(listener)
  }

  /** Sets the one listener to browsers that start or stop to receive calls, or that are removed. */
  onChange(listener: (browser: BrowserSession) => void): void {
    this.#onChange = listener
  }

  /** Reports that a browser stopped to receive calls. */
  reportOffline(browser: BrowserSession): void {
    this.#onChange(browser)
  }

  /** Reports that a browser receives calls. `isRequested`: the browser requested to be online. */
  reportOnline(browser: BrowserSession, isRequested: boolean): void {
    for (const listener of this.#onOnline) listener(browser, isRequested)
    this.#onChange(browser)
  }

  /**
   * Sends an event to the connected browsers of a subscriber or guest, but not to users that the subscriber
   * invited. Sessions with many unacknowledged events miss it, so that it does not displace events of calls.
   * They receive one `events.missed` with its type later, and can fetch the content.
   */
  emit(holderId: string, event: string, params: object): void {
    for (const browser of this.of(holderId)) {
      const { session, isAuthorized, identity, unacknowledged } = browser
      if (!session || !isAuthorized || identity.kind === 'invite') continue
      if (unacknowledged < maxWaiting) browser.emit(event, params)
      else browser.emitLatest(`missed ${event}`, 'events.missed', { event_type: event })
    }
  }

  /** Creates a session with a new protocol. {@link add} makes it known. */
  create(signedIn: SignedIn): BrowserSession {
    const { nodeId, tokens, clock } = this.#deps
    return new BrowserSession({
      ...signedIn,
      nodeId,
      tokens,
      clock,
      limits: this.#limits,
      onSlow: (browser, reason) => this.#slow(browser, reason),
    })
  }

  add(browser: BrowserSession): void {
    this.#browsers.set(browser.protocol, browser)
    const { id } = browser.identity
    const siblings = this.#bySubscriber.get(id) ?? new Set()
    this.#bySubscriber.set(id, siblings.add(browser))
  }

  /** Cancels the removal of a session that reconnects. */
  socketBack(browser: BrowserSession): void {
    this.#graces.get(browser)?.cancel()
    this.#graces.delete(browser)
  }

  /**
   * Handles a lost connection. A session that is offline and without calls is removed at once, others after
   * the grace period.
   */
  socketLost(browser: BrowserSession): void {
    if (!browser.isOnline && browser.calls.size === 0) {
      this.remove(browser)
      return
    }
    this.#graces.set(
      browser,
      this.#deps.clock.after(this.#limits.graceMs, () => this.remove(browser)),
    )
    for (const call of [...browser.calls.values()]) call.onDisconnected?.(browser)
  }

  /** Removes every session and ends its calls. The server closes the connections. */
  close(): void {
    for (const browser of [...this.#browsers.values()]) this.remove(browser)
  }

  /** Removes a session and ends its calls. */
  remove(browser: BrowserSession): void {
    this.socketBack(browser)
    browser.isOnline = false
    if (this.#browsers.get(browser.protocol) === browser) this.#browsers.delete(browser.protocol)
    const siblings = this.#bySubscriber.get(browser.identity.id)
    siblings?.delete(browser)
    if (siblings?.size === 0) this.#bySubscriber.delete(browser.identity.id)
    for (const call of [...browser.calls.values()]) call.onSessionLost(browser)
    browser.calls.clear()
    this.#onChange(browser)
  }

  /**
   * Closes the connection of a slow session, which receives the missed events when it reconnects. A session
   * with too many waiting events is removed with its calls, and may connect again as a new one.
   */
  #slow(browser: BrowserSession, { kind, waiting, limit }: SlowSession): void {
    const code = 'slow_client'
    const { identity, protocol, calls, network } = browser
    this.#deps.metrics.rejections.inc({ code })
    this.#deps.log.warn(
      {
        event: 'browser.slow',
        code,
        kind,
        waiting,
        limit,
        subscriber: identity.id,
        protocol,
        calls: calls.size,
        network,
      },
      catalogue[code].text,
    )
    // Deferred, because the caller of `emit` may be in the middle of changing a call.
    queueMicrotask(() => {
      const { session } = browser
      if (kind === 'full') this.remove(browser)
      session?.close(closeCodes.tryAgain, 'events are not acknowledged')
    })
  }
}
