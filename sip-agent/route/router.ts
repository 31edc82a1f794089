import { isIP } from 'node:net'
import type { Clock, Timer } from '../clock.ts'
import type { Hop } from '../transport/types.ts'
import { defaultPort } from '../transport/types.ts'
import type { Dns } from './dns.ts'
import { DnsCache } from './dns-cache.ts'
import { HopFinder } from './hop-finder.ts'
import { type BoundTransports, readTarget, type Target } from './target.ts'
import type { Router } from './types.ts'

/** Maximum time of a search in ms. */
const searchTimeoutMs = 5_000
/** Time in ms for which a failed hop is tried last. A failed tentative hop is left out for longer. */
const avoidMs = 30_000
const tentativeAvoidMs = 600_000
const maxFailed = 1_000
/**
 * Maximum size of a request over UDP (RFC 3261 18.1.1): a larger one may need several packets if the path's
 * MTU is unknown.
 */
const maxUdpBytes = 1_300

const keyOf = ({ protocol, address, port }: Hop): string => `${protocol}|${address}|${port}`

/** Finds the hops of requests (RFC 3263), and remembers those that failed recently. */
export class SipRouter implements Router {
  readonly #reach: BoundTransports
  readonly #clock: Clock
  readonly #fault: (error: unknown) => void
  readonly #plan: HopFinder
  readonly #failed = new Map<string, number>()
  /** Timeouts of running searches. */
  readonly #searches = new Set<Timer>()

  constructor(options: {
    reach: BoundTransports
    dns: Dns
    clock: Clock
    /** Receives errors of the callers, which must not end the thread. */
    fault: (error: unknown) => void
    /** Default `Math.random`. */
    random?: () => number
  }) {
    const { reach, dns, clock, fault, random = Math.random } = options
    this.#reach = reach
    this.#clock = clock
    this.#fault = fault
    this.#plan = new HopFinder(new DnsCache(dns, clock), reach, random)
  }

  /** Number of running searches. */
  get searching(): number {
    return this.#searches.size
  }

  find(uri: string, done: (hops: readonly Hop[]) => void): boolean {
    const target = readTarget(uri, this.#reach)
    if (!target) return false
    if (isIP(target.address)) done([this.#literal(target)])
    else this.#search(target, done)
    return true
  }

  fit(hops: readonly Hop[], bytes: number): readonly Hop[] {
    if (bytes <= maxUdpBytes) return hops
    return hops.flatMap((hop) => (hop.overTcp && !this.#avoided(hop.overTcp) ? [hop.overTcp, hop] : [hop]))
  }

  failed(hop: Hop): void {
    const key = keyOf(hop)
    this.#failed.delete(key)
    for (const oldest of this.#failed.keys()) {
      if (this.#failed.size < maxFailed) break
      this.#failed.delete(oldest)
    }
    this.#failed.set(key, this.#clock.now() + (hop.isTentative ? tentativeAvoidMs : avoidMs))
  }

  /** Ends all searches without an answer. */
  close(): void {
    for (const timer of this.#searches) timer.cancel()
    this.#searches.clear()
  }

  #literal({ address, host, port, protocol, isTransportFixed }: Target): Hop {
    const hop: Hop = { protocol, address, port: port ?? defaultPort(protocol), host }
    return isTransportFixed ? hop : this.#plan.enlarged(hop)
  }

  #search(target: Target, done: (hops: readonly Hop[]) => void): void {
    const answer = (hops: readonly Hop[]) => {
      // The search has already ended, by a result, the timeout or the end of the router.
      if (!this.#searches.delete(limit)) return
      limit.cancel()
      try {
        done(this.#ordered(hops))
      } catch (error) {
        this.#fault(error)
      }
    }
    const limit = this.#clock.after(searchTimeoutMs, () => answer([]))
    this.#searches.add(limit)
    this.#plan.hops(target).then(answer, (error) => {
      this.#fault(error)
      answer([])
    })
  }

  /** Returns the hops, with recently failed hops last. */
  #ordered(hops: readonly Hop[]): Hop[] {
    const avoided = hops.filter((hop) => this.#avoided(hop))
    return [...hops.filter((hop) => !avoided.includes(hop)), ...avoided]
  }

  #avoided(hop: Hop): boolean {
    const until = this.#failed.get(keyOf(hop))
    if (until === undefined) return false
    if (until > this.#clock.now()) return true
    this.#failed.delete(keyOf(hop))
    return false
  }
}
