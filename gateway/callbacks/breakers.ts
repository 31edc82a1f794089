import type { Clock } from '../core/clock.ts'

/** Failures in a row after which a server is left alone. */
const mostFailures = 5
/** For so long; then one request is let through to see. */
const openMs = 10_000
/** Servers that are remembered; beyond, the one that failed longest ago is forgotten. */
const mostServers = 10_000

interface Breaker {
  failures: number
  /** When it may be asked again, in ms; undefined while it is asked as ever. */
  openUntil: number | undefined
}

/**
 * Servers that do not answer: after some failures in a row their requests fail at once, so that no caller waits for a time-out that is bound to
 * come. A status is an answer, whichever it is. Only servers that failed last are kept.
 */
export class Breakers {
  readonly #clock: Pick<Clock, 'now'>
  readonly #servers = new Map<string, Breaker>()

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  /** Servers that are left alone now. */
  get open(): number {
    const now = this.#clock.now()
    let open = 0
    for (const { openUntil } of this.#servers.values()) if (openUntil !== undefined && openUntil > now) open++
    return open
  }

  /** Whether a server may be asked. Where it has been left alone, the first who asks after that time tries it for all. */
  admits(server: string): boolean {
    const breaker = this.#servers.get(server)
    if (breaker?.openUntil === undefined) return true
    const now = this.#clock.now()
    if (now < breaker.openUntil) return false
    breaker.openUntil = now + openMs
    return true
  }

  /** It answered. */
  answered(server: string): void {
    this.#servers.delete(server)
  }

  /** It did not. */
  failed(server: string): void {
    const breaker = this.#servers.get(server) ?? { failures: 0, openUntil: undefined }
    // To the end of the map: the first one in it failed longest ago.
    this.#servers.delete(server)
    this.#servers.set(server, breaker)
    breaker.failures++
    if (breaker.failures >= mostFailures) breaker.openUntil = this.#clock.now() + openMs
    if (this.#servers.size > mostServers) this.#servers.delete(this.#servers.keys().next().value!)
  }
}
