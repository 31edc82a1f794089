import type { Clock, Timer } from '../../core/clock.ts'
import type { BrowserSession } from './browser-session.ts'

/** Time before the expiry of a token at which its page is notified, in milliseconds. */
const noticeMs = 120_000
/** Maximum duration of one timer; Node limits timers to 24 days. */
const maxWaitMs = 86_400_000

/**
 * Event by which the gateway requests a new token from a page. `expires_at` is in seconds since the Unix
 * epoch, `expires_in` in seconds.
 */
export const expiryEvent = 'subscriber.token.expiring'

type Notified = Pick<BrowserSession, 'expiresAt' | 'emit'>

/**
 * Notifies a page two minutes before its token expires, or halfway if less than four minutes are left. Used
 * because the published SDK has no callback for the expiry, but passes every event on to the application.
 */
export class ExpiryNotice {
  readonly #clock: Pick<Clock, 'now' | 'after'>
  #timer: Timer | undefined

  constructor(clock: Pick<Clock, 'now' | 'after'>) {
    this.#clock = clock
  }

  /** Schedules the event for the session's current token, and replaces an earlier schedule. */
  announce(browser: Notified): void {
    this.cancel()
    const leftMs = browser.expiresAt * 1000 - this.#clock.now()
    if (leftMs > 0) this.#await(browser, browser.expiresAt * 1000 - Math.min(noticeMs, leftMs / 2))
  }

  /** Cancels the event. Idempotent. */
  cancel(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #await(browser: Notified, at: number): void {
    const waitMs = at - this.#clock.now()
    this.#timer = this.#clock.after(Math.min(waitMs, maxWaitMs), () => {
      if (waitMs > maxWaitMs) this.#await(browser, at)
      else this.#send(browser)
    })
  }

  #send(browser: Notified): void {
    const { expiresAt } = browser
    const leftMs = expiresAt * 1000 - this.#clock.now()
    browser.emit(expiryEvent, { expires_at: expiresAt, expires_in: Math.round(leftMs / 1000) })
  }
}
