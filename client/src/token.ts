import type { Clock, Timer } from './clock.ts'

// Long enough for a slow identity provider, short enough that tokens of five minutes are not renewed all the time.
const AHEAD_MS = 120_000
const RETRY_MS = 30_000

/** The client's token, renewed before it ends where the application says how. */
export class Token {
  #value: string
  #clock: Clock
  #fetch: (() => Promise<string>) | undefined
  #due: () => Promise<void>
  #lifetime: number | undefined
  #timer: Timer | undefined
  #dueAt = Number.POSITIVE_INFINITY

  /** `due` is called when it is time to renew a token; when it fails it is called again after 30 s. */
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

  /** A new token from the application; undefined when it gave no way to get one. Rejects as the application's function does. */
  async fetch(): Promise<string | undefined> {
    return this.#fetch?.()
  }

  /** Notes when the token ends (ms since the epoch). A server that does not say gave it the same lifetime as the one before. */
  expires(at: number | undefined): void {
    this.stop()
    const left = at === undefined ? this.#lifetime : at - this.#clock.now()
    if (left === undefined || !this.#fetch) return
    this.#lifetime = left
    // The server takes a token that has ended by our clock: the clock is wrong.
    if (left <= 0) this.#schedule(RETRY_MS)
    else this.#schedule(left > 2 * AHEAD_MS ? left - AHEAD_MS : Math.max(1000, left / 2))
  }

  /** Renews a token that should have been renewed by now: timers stand still while a machine sleeps. */
  check(): void {
    if (!this.#timer || this.#clock.now() < this.#dueAt) return
    this.#timer.cancel()
    this.#renew()
  }

  /** No more renewals until {@link expires} is called. */
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
      // Unless nobody waits for one any more.
      if (this.#dueAt === dueAt) this.#schedule(RETRY_MS)
    })
  }
}
