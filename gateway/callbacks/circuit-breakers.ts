import type { Clock } from '../core/clock.ts'

/** Number of consecutive failures that open a breaker. */
const maxFailures = 5
/** Time in ms for which a breaker stays open; then one request tests the server. */
export const breakerOpenMs = 10_000
/** Maximum number of tracked servers; beyond it, the server whose failure is oldest is dropped. */
const maxServers = 10_000

interface Breaker {
  failures: number
  /** Time of the next test request in ms; undefined while the breaker is closed. */
  openUntil: number | undefined
}

/**
 * Circuit breakers of servers that do not respond. After some consecutive failures, requests fail at once, so
 * that no caller waits for a timeout that is sure to come. Any status counts as a response. Only servers
 * whose latest request failed are kept.
 */
export class CircuitBreakers {
  readonly #clock: Pick<Clock, 'now'>
  readonly #servers = new Map<string, Breaker>()

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  /** Number of servers with an open breaker. */
  get open(): number {
    const now = this.#clock.now()
    let open = 0
    for (const { openUntil } of this.#servers.values()) if (openUntil !== undefined && openUntil > now) open++
    return open
  }

  /**
   * Returns whether a request to a server may be sent. After the open time, one request is admitted as a
   * test; its outcome closes or reopens the breaker.
   */
  admits(server: string): boolean {
    const breaker = this.#servers.get(server)
    if (breaker?.openUntil === undefined) return true
    const now = this.#clock.now()
    if (now < breaker.openUntil) return false
    breaker.openUntil = now + breakerOpenMs
    return true
  }

  /** Records a response: closes the breaker. */
  answered(server: string): void {
    this.#servers.delete(server)
  }

  /** Records a failure. */
  failed(server: string): void {
    const breaker = this.#servers.get(server) ?? { failures: 0, openUntil: undefined }
    // Moves the server to the end of the map, so that the first entry has the oldest failure.
    this.#servers.delete(server)
    this.#servers.set(server, breaker)
    breaker.failures++
    if (breaker.failures >= maxFailures) breaker.openUntil = this.#clock.now() + breakerOpenMs
    if (this.#servers.size > maxServers) this.#servers.delete(this.#servers.keys().next().value!)
  }
}
