import type { Clock, Timer } from './clock.ts'

// Long enough for a slow identity provider, and short enough for tokens with a lifetime of five minutes.
const aheadMs = 120_000
const retryMs = 30_000

/** Token of the client, renewed before it expires if the application has a function for that. */
export class Token {
  #value: string
  #clock: Clock
  #fetch: (() => Promise<string>) | undefined
  #due: () => Promise<void>
  #lifetime: number | undefined
  #timer: Timer | undefined
  #dueAt = Number.POSITIVE_INFINITY

  /** `due` is called when the token must be renewed; if it fails, again after 30 s. */
  constructor(
    value: string,
    clock: Clock,
    fetch: (() => Promise<string>) | undefined,
    due: () => Promise<void>,
  ) {
    this.#value = value
    this.#clock = clock
    this.#fetch = fetch
    this.#due = due
  }

  get value(): string {
    return this.#value
  }

  set value(value: string) {
    this.#value = value
  }

  /**
   * Fetches a new token from the application; undefined if the application has no function for it.
   * Rejects like the application's function.
   */
  async fetch(): Promise<string | undefined> {
    return this.#fetch?.()
  }

  /**
   * Sets the token's expiry (ms since the epoch). If the server sent no expiry, the lifetime of the previous
   * token applies.
   */
  expires(at: number | undefined): void {
    this.stop()
    const left = at === undefined ? this.#lifetime : at - this.#clock.now()
    if (left === undefined || !this.#fetch) return
    this.#lifetime = left
    // The server accepted a token that has expired by the local clock, so the clock is wrong.
    if (left <= 0) this.#schedule(retryMs)
    else this.#schedule(left > 2 * aheadMs ? left - aheadMs : Math.max(1000, left / 2))
  }

  /** Renews an overdue token: timers do not run while a machine sleeps. */
  check(): void {
    if (!this.#timer || this.#clock.now() < this.#dueAt) return
    this.#timer.cancel()
    this.#renew()
  }

  /** Stops renewals until {@link expires} is called. */
  stop(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#dueAt = Number.POSITIVE_INFINITY
  }

  #schedule(wait: number): void {
    this.#dueAt = this.#clock.now() + wait
    this.#timer = this.#clock.after(wait, () => this.#renew())
  }

  #renew(): void {
    this.#timer = undefined
    const dueAt = this.#dueAt
    this.#due().catch(() => {
      // A renewal may have been cancelled meanwhile.
      if (this.#dueAt === dueAt) this.#schedule(retryMs)
    })
  }
}
