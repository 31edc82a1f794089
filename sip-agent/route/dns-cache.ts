import type { Clock } from '../clock.ts'
import type { Dns, DnsAddress, Naptr } from './dns.ts'
import type { Srv } from './srv.ts'

/** Minimum and maximum time in ms for which an answer is kept, whatever its TTL. */
const minTtlMs = 5_000
const maxTtlMs = 300_000
/** Lifetime in ms of records whose TTL the resolver does not return. */
const defaultTtlMs = 60_000
/** Lifetime in ms of a negative answer. */
const negativeTtlMs = 10_000
/** Time in ms after which an unanswered query is sent again. */
const queryTimeoutMs = 10_000
const maxEntries = 2_000
/** Error codes of `node:dns` for a missing record. */
export const absentCodes: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA'])

interface Entry {
  until: number
  answer: Promise<readonly unknown[]>
}

/**
 * Cache of DNS answers. Sends concurrent queries for a name once, and returns an empty list if there is no
 * record.
 */
export class DnsCache {
  readonly #dns: Dns
  readonly #clock: Clock
  readonly #known = new Map<string, Entry>()

  constructor(dns: Dns, clock: Clock) {
    this.#dns = dns
    this.#clock = clock
  }

  /** Number of cached answers. */
  get size(): number {
    return this.#known.size
  }

  naptr(name: string): Promise<readonly Naptr[]> {
    return this.#ask(
      `naptr|${name}`,
      () => this.#dns.naptr(name),
      () => defaultTtlMs,
    )
  }

  srv(name: string): Promise<readonly Srv[]> {
    return this.#ask(
      `srv|${name}`,
      () => this.#dns.srv(name),
      () => defaultTtlMs,
    )
  }

  addresses(name: string, family: 4 | 6): Promise<readonly DnsAddress[]> {
    const keep = (found: readonly DnsAddress[]) => {
      const ttl = Math.min(...found.map((each) => each.ttl)) * 1_000
      return Math.min(Math.max(ttl, minTtlMs), maxTtlMs)
    }
    return this.#ask(`${family}|${name}`, () => this.#dns.addresses(name, family), keep)
  }

  #ask<T>(
    key: string,
    query: () => Promise<readonly T[]>,
    keep: (found: readonly T[]) => number,
  ): Promise<readonly T[]> {
    const known = this.#known.get(key)
    if (known && known.until > this.#clock.now()) return known.answer as Promise<readonly T[]>
    const answer = query().then(
      (found) => {
        entry.until = this.#clock.now() + (found.length === 0 ? negativeTtlMs : keep(found))
        return found
      },
      (error) => {
        entry.until = this.#clock.now() + negativeTtlMs
        // If name servers fail, the expired answer is used, so that the carrier stays reachable (RFC 8767).
        return known && !absentCodes.has(error.code) ? (known.answer as Promise<readonly T[]>) : []
      },
    )
    const entry: Entry = { until: this.#clock.now() + queryTimeoutMs, answer }
    this.#store(key, entry)
    return answer
  }

  #store(key: string, entry: Entry): void {
    this.#known.delete(key)
    for (const oldest of this.#known.keys()) {
      if (this.#known.size < maxEntries) break
      this.#known.delete(oldest)
    }
    this.#known.set(key, entry)
  }
}
