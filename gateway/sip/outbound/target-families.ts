import { isIP } from 'node:net'
import type { IpFamily } from '../../../media/types.ts'
import type { Clock } from '../../core/clock.ts'
import { type FindAddresses, inDns } from '../trunks/dial-guard.ts'
import { type Hop, placeOf } from '../trunks/route.ts'

/** Collaborators of {@link TargetFamilies}. */
export interface TargetFamiliesDeps {
  readonly clock: Clock
  /** Default: the system's DNS. */
  readonly find?: FindAddresses
  /** Families in which the SIP agent can send; default both. */
  readonly reachable?: readonly IpFamily[]
}

/** Time for which an answer of DNS is kept, in ms. */
const keptMs = 30_000
/** Maximum number of answers that are kept. */
const maxKept = 1_000
/** Maximum wait for DNS, in ms. Afterwards an INVITE is sent with the usual family. */
const maxWaitMs = 2_000

/**
 * IP families of the targets of INVITEs. The SIP agent resolves host names by itself, and prefers IPv4. So a
 * target whose name has any IPv4 address is offered audio over IPv4, and only a target without one is offered
 * IPv6.
 */
export class TargetFamilies {
  readonly #clock: Clock
  readonly #find: FindAddresses
  readonly #reachable: readonly IpFamily[]
  readonly #kept = new Map<string, { readonly until: number; readonly family: Promise<IpFamily> }>()

  constructor({ clock, find = inDns, reachable = [4, 6] }: TargetFamiliesDeps) {
    this.#clock = clock
    this.#find = find
    this.#reachable = reachable
  }

  /** Returns the hops with their families, in the same order. Never rejects. */
  async complete(hops: readonly Hop[], given?: IpFamily): Promise<readonly Hop[]> {
    return Promise.all(hops.map(async (hop) => ({ ...hop, family: given ?? (await this.#familyOf(hop)) })))
  }

  async #familyOf(hop: Hop): Promise<IpFamily> {
    const place = placeOf(hop)
    if (!place) return 4
    if (isIP(place.host) !== 0) return isIP(place.host) === 6 ? 6 : 4
    const key = `${place.host.toLowerCase()}:${place.port ?? ''}`
    const now = this.#clock.now()
    const known = this.#kept.get(key)
    if (known && known.until > now) return known.family
    const family = this.#look(place.host, place.port === undefined)
    this.#kept.delete(key)
    this.#kept.set(key, { until: now + keptMs, family })
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= maxKept) break
      this.#kept.delete(oldest)
    }
    return family
  }

  async #look(host: string, located: boolean): Promise<IpFamily> {
    const { promise: late, resolve } = Promise.withResolvers<readonly string[]>()
    const timer = this.#clock.after(maxWaitMs, () => resolve([]))
    const found = await Promise.race([this.#find(host, located).catch(() => []), late])
    timer.cancel()
    const families = found.map((address) => (isIP(address) === 6 ? 6 : 4))
    const usable = families.filter((family) => this.#reachable.includes(family))
    return usable.length > 0 && usable.every((family) => family === 6) ? 6 : 4
  }
}
