import type { Clock, Timer } from '../../core/clock.ts'
import type { BrowserSession } from './browser-session.ts'

/** Known browser sessions, and which of them receive calls. */
export class Presence {
  #clock: Clock
  #graceMs: number
  #browsers = new Map<string, BrowserSession>()
  #bySubscriber = new Map<string, Set<BrowserSession>>()
  #graces = new Map<BrowserSession, Timer>()

  /** `graceMs`: time that a disconnected browser has to reconnect. */
  constructor(clock: Clock, graceMs: number) {
    this.#clock = clock
    this.#graceMs = graceMs
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
  online(subscriberId: string): BrowserSession[] {
    const browsers = this.#bySubscriber.get(subscriberId) ?? []
    return [...browsers].filter((browser) => browser.isOnline && browser.isAuthorized)
  }

  /** Returns the connected sessions of a subscriber or guest, without those of invited users. */
  connected(holderId: string): BrowserSession[] {
    const browsers = this.#bySubscriber.get(holderId) ?? []
    return [...browsers].filter(
      ({ session, isAuthorized: authorized, identity }) =>
        session && authorized && identity.kind !== 'invite',
    )
  }

  add(browser: BrowserSession): void {
    this.#browsers.set(browser.protocol, browser)
    const { id } = browser.identity
    const siblings = this.#bySubscriber.get(id) ?? new Set()
    this.#bySubscriber.set(id, siblings.add(browser))
  }

  /** Cancels the removal of a reconnected session. */
  back(browser: BrowserSession): void {
    this.#graces.get(browser)?.cancel()
    this.#graces.delete(browser)
  }

  /**
   * Handles a lost connection. A session that is offline and without calls is removed at once, others after
   * `graceMs`.
   */
  lost(browser: BrowserSession): void {
    if (!browser.isOnline && browser.calls.size === 0) {
      this.remove(browser)
      return
    }
    this.#graces.set(
      browser,
      this.#clock.after(this.#graceMs, () => this.remove(browser)),
    )
    for (const call of [...browser.calls.values()]) call.onDisconnected?.(browser)
  }

  /** Removes every session and ends its calls. */
  close(): void {
    for (const browser of [...this.#browsers.values()]) this.remove(browser)
  }

  /** Removes a session and ends its calls. */
  remove(browser: BrowserSession): void {
    this.back(browser)
    browser.isOnline = false
    if (this.#browsers.get(browser.protocol) === browser) this.#browsers.delete(browser.protocol)
    const siblings = this.#bySubscriber.get(browser.identity.id)
    siblings?.delete(browser)
    if (siblings?.size === 0) this.#bySubscriber.delete(browser.identity.id)
    for (const call of [...browser.calls.values()]) call.onSessionLost(browser)
    browser.calls.clear()
  }
}
