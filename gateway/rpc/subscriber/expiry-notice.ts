import type { Clock, Timer } from '../../core/clock.ts'
import type { BrowserSession } from './browser-session.ts'

/** Time before the end of a token at which its page is notified, in milliseconds. */
const noticeMs = 120_000
/** Timers take no more than 24 days. */
const maxWaitMs = 86_400_000

/**
 * The event that asks a page for a new token. `expires_at` is in seconds since the Unix epoch, `expires_in`
 * in seconds.
 */
export const expiryEvent = 'subscriber.token.expiring'

type Notified = Pick<BrowserSession, 'expiresAt' | 'emit'>

/**
 * Notifies a page before its token ends: two minutes before, and halfway where the token is shorter than
 * four. The published SDK calls no function of the application then, but hands on every event.
 */
export class ExpiryNotice {
  readonly #clock: Pick<Clock, 'now' | 'after'>
  #timer: Timer | undefined

  constructor(clock: Pick<Clock, 'now' | 'after'>) {
    this.#clock = clock
  }

  /** Sends one event before the end of the client's present token; an earlier announcement is replaced. */
  announce(browser: Notified): void {
    this.cancel()
    const leftMs = browser.expiresAt * 1000 - this.#clock.now()
    if (leftMs > 0) this.#await(browser, browser.expiresAt * 1000 - Math.min(noticeMs, leftMs / 2))
  }

  /** Sends nothing any more. Idempotent. */
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
