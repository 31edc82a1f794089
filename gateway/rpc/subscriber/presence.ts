import type { Clock, Timer } from '../../core/clock.ts'
import type { BrowserSession } from './browser-session.ts'

/** Which pages there are, and which of them take calls. */
export class Presence {
  #clock: Clock
  #graceMs: number
  #browsers = new Map<string, BrowserSession>()
  #bySubscriber = new Map<string, Set<BrowserSession>>()
  #graces = new Map<BrowserSession, Timer>()

  /** `graceMs`: how long a page that lost its connection is waited for. */
  constructor(clock: Clock, graceMs: number) {
    this.#clock = clock
    this.#graceMs = graceMs
  }

  /** Pages that are known, connected or waited for. */
  get browsers(): number {
    return this.#browsers.size
  }

  /** Subscribers with at least one page that takes calls. */
  get subscribersOnline(): number {
    let online = 0
    for (const id of this.#bySubscriber.keys()) if (this.online(id).length > 0) online++
    return online
  }

  find(protocol: string): BrowserSession | undefined {
    return this.#browsers.get(protocol)
  }

  /**
   * The pages of a subscriber or a guest, connected or waited for; also those of who was invited by the
   * subscriber.
   */
  of(holderId: string): readonly BrowserSession[] {
    return [...(this.#bySubscriber.get(holderId) ?? [])]
  }

  /** The pages that are, or were last, at a network address. */
  at(network: string): readonly BrowserSession[] {
    return [...this.#browsers.values()].filter((browser) => browser.network === network)
  }

  /** The pages of a subscriber that take calls. */
  online(subscriberId: string): BrowserSession[] {
    const browsers = this.#bySubscriber.get(subscriberId) ?? []
    return [...browsers].filter((browser) => browser.isOnline && browser.isAuthorized)
  }

  /**
   * The pages of a subscriber or a guest that are connected, whether or not they take calls; not those of who
   * was invited by the subscriber.
   */
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

  /** The page is connected again. */
  back(browser: BrowserSession): void {
    this.#graces.get(browser)?.cancel()
    this.#graces.delete(browser)
  }

  /**
   * The page lost its connection. One that has nothing to lose is forgotten at once, the others after the
   * grace period.
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

  /** Forgets every page; their calls end. */
  close(): void {
    for (const browser of [...this.#browsers.values()]) this.remove(browser)
  }

  /** Forgets a page, and ends its calls. */
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
