import { lookup } from 'node:dns'
import { isIP } from 'node:net'
import type { Clock } from '../../clock.ts'

/** The part of `node:dns` that is used; tests pass their own. */
export type Lookup = (host: string, done: (error: Error | null, address: string) => void) => void

/** A host's address, or undefined where it has none. */
export type Resolved = (address: string | undefined) => void

const keepFor = 30_000
const keepAtMost = 1_000

/**
 * Finds addresses of hosts. Answers literals at once, names through the system's resolver with a short memory.
 * NAPTR and SRV (RFC 3263) belong here when they come. Never used on the receive path.
 */
export class Resolver {
  readonly #clock: Clock
  readonly #lookup: Lookup
  readonly #known = new Map<string, { address: string; until: number }>()
  readonly #waiting = new Map<string, Resolved[]>()

  constructor(clock: Clock, find: Lookup = (host, done) => lookup(host, { verbatim: false }, done)) {
    this.#clock = clock
    this.#lookup = find
  }

  /** Calls `done` once: at once for a literal or a remembered name, else when the look-up ends, in order of asking. */
  resolve(host: string, done: Resolved) {
    if (isIP(host)) return done(host)
    const known = this.#known.get(host)
    if (known && known.until > this.#clock.now()) return done(known.address)
    const waiting = this.#waiting.get(host)
    if (waiting) {
      waiting.push(done)
      return
    }
    this.#waiting.set(host, [done])
    this.#lookup(host, (error, address) => this.#answer(host, error ? undefined : address))
  }

  #answer(host: string, address: string | undefined) {
    const waiting = this.#waiting.get(host) ?? []
    this.#waiting.delete(host)
    this.#known.delete(host)
    if (address) {
      for (const oldest of this.#known.keys()) {
        if (this.#known.size < keepAtMost) break
        this.#known.delete(oldest)
      }
      this.#known.set(host, { address, until: this.#clock.now() + keepFor })
    }
    for (const done of waiting) done(address)
  }
}
