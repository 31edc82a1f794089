import { isIP } from 'node:net'
import type { Clock, Timer } from '../clock.ts'
import { canonicalAddress } from '../ip/address.ts'
import { isSipUri, parseUri } from '../message/uri.ts'
import type { Dns } from '../route/dns.ts'
import { absentCodes } from '../route/dns-cache.ts'

/**
 * Age in ms from which the addresses of a name are resolved again, and from which a decision waits for the
 * answer.
 */
const refreshAfterMs = 30_000
const waitAfterMs = 300_000
/**
 * Maximum time in ms for which a decision waits for name servers. Decisions do not wait for a query that was
 * sent longer ago.
 */
const maxWaitMs = 4_000
/**
 * Time in ms for which a resolved address counts; long, because an answer may hold only some addresses of a
 * pool.
 */
const retentionMs = 3_600_000
/** Maximum number of addresses of one name. */
const maxAddresses = 256
/** Maximum number of names in the SRV and NAPTR records of one name. */
const maxServers = 32

interface Entry {
  readonly host: string
  /** Whether SRV and NAPTR records are used: only if the URI has no port (RFC 3263 4.1). */
  readonly isLocated: boolean
  /** Addresses, each with the time until which it counts. */
  readonly addresses: Map<string, number>
  lookedUpAt: number | undefined
  /** Whether the latest query failed for another reason than a missing record. */
  hasFailed: boolean
  pending: { readonly since: number; readonly done: Promise<void> } | undefined
}

interface Found {
  readonly addresses: readonly string[]
  readonly hasFailed: boolean
}

/**
 * Addresses of the carriers' targets in DNS. Names are resolved when a decision needs them, at most every 30
 * s. The addresses of all transports and both families count, bound or not.
 */
export class TargetAddresses {
  readonly #dns: Dns
  readonly #clock: Clock
  readonly #fault: (error: unknown) => void
  #byUri: ReadonlyMap<string, Entry> = new Map()
  readonly #waits = new Set<Timer>()
  #version = 0

  /** `fault` receives errors of the decisions that wait for an answer. */
  constructor(options: { dns: Dns; clock: Clock; fault: (error: unknown) => void }) {
    this.#dns = options.dns
    this.#clock = options.clock
    this.#fault = options.fault
  }

  /** Version of the addresses; it grows whenever they may have changed. */
  get version(): number {
    return this.#version
  }

  /**
   * Replaces the URIs of all targets. Known targets keep their addresses, and new names are resolved at once.
   */
  change(uris: readonly string[]): void {
    const byKey = new Map([...this.#byUri.values()].map((entry) => [keyOf(entry), entry]))
    const next = new Map<string, Entry>()
    for (const uri of uris) {
      const entry = entryOf(uri)
      if (!entry) continue
      const known = byKey.get(keyOf(entry)) ?? entry
      byKey.set(keyOf(entry), known)
      next.set(uri, known)
    }
    this.#byUri = next
    this.#version++
    for (const entry of next.values()) if (entry.lookedUpAt === undefined) this.#start(entry)
  }

  /** Returns the canonical addresses of a target; empty if they are unknown. */
  of(uri: string): readonly string[] {
    const entry = this.#byUri.get(uri)
    if (!entry) return []
    const now = this.#clock.now()
    return [...entry.addresses].filter(([, until]) => until > now).map(([address]) => address)
  }

  /** Returns whether a target has no known address because its name servers did not answer. */
  isUnknown(uri: string): boolean {
    const entry = this.#byUri.get(uri)
    return (
      entry !== undefined && (entry.hasFailed || entry.lookedUpAt === undefined) && this.of(uri).length === 0
    )
  }

  /** Calls `done` after the addresses are fresh, or after 4 s; at once if no query is needed. */
  prepare(done: () => void): void {
    const waits: Promise<void>[] = []
    const now = this.#clock.now()
    for (const entry of new Set(this.#byUri.values())) {
      const age = now - (entry.lookedUpAt ?? Number.NEGATIVE_INFINITY)
      if (isIP(entry.host) > 0 || age < refreshAfterMs) continue
      const { since, done: answered } = this.#start(entry)
      // Waits only for recent queries: a customer's name server that does not answer must not delay all other
      // requests.
      if (age >= waitAfterMs && now - since < maxWaitMs) waits.push(answered)
    }
    if (waits.length === 0) done()
    else this.#after(Promise.all(waits), done)
  }

  /** Ends all waits without an answer. */
  close(): void {
    for (const timer of this.#waits) timer.cancel()
    this.#waits.clear()
  }

  #after(ready: Promise<unknown>, done: () => void): void {
    const go = () => {
      if (!this.#waits.delete(limit)) return
      limit.cancel()
      try {
        done()
      } catch (error) {
        this.#fault(error)
      }
    }
    const limit = this.#clock.after(maxWaitMs, go)
    this.#waits.add(limit)
    void ready.then(go)
  }

  /** Returns the running query of a name, or starts one. */
  #start(entry: Entry): NonNullable<Entry['pending']> {
    entry.pending ??= { since: this.#clock.now(), done: this.#refresh(entry) }
    return entry.pending
  }

  async #refresh(entry: Entry): Promise<void> {
    const { addresses, hasFailed } = await this.#lookUp(entry)
    const now = this.#clock.now()
    for (const address of addresses) {
      entry.addresses.delete(address)
      entry.addresses.set(address, now + retentionMs)
    }
    for (const [address, until] of entry.addresses) {
      if (until <= now || entry.addresses.size > maxAddresses) entry.addresses.delete(address)
    }
    entry.hasFailed = hasFailed
    entry.lookedUpAt = now
    entry.pending = undefined
    this.#version++
  }

  async #lookUp({ host, isLocated }: Entry): Promise<Found> {
    const servers = isLocated ? await this.#servers(host) : { addresses: [], hasFailed: false }
    const names = [host, ...servers.addresses.slice(0, maxServers)]
    const found = await Promise.all(
      names.flatMap((name) =>
        ([4, 6] as const).map((family) => this.#ask(this.#dns.addresses(name, family))),
      ),
    )
    return {
      addresses: found.flatMap(({ records }) => records.map(({ address }) => canonicalAddress(address))),
      hasFailed: servers.hasFailed || found.some(({ hasFailed }) => hasFailed),
    }
  }

  /** Resolves the names in the SRV and NAPTR records of a host. */
  async #servers(host: string): Promise<Found> {
    const pointers = await this.#ask(this.#dns.naptr(host))
    const named = pointers.records.map(({ replacement }) => replacement).filter((name) => name !== '')
    const services = ['_sip._udp', '_sip._tcp', '_sips._tcp'].map((service) => `${service}.${host}`)
    const found = await Promise.all(
      [...services, ...named].slice(0, maxServers).map((name) => this.#ask(this.#dns.srv(name))),
    )
    return {
      addresses: found.flatMap(({ records }) => records.map(({ name }) => name.toLowerCase())),
      hasFailed: found.some(({ hasFailed }) => hasFailed),
    }
  }

  async #ask<T>(answer: Promise<readonly T[]>): Promise<{ records: readonly T[]; hasFailed: boolean }> {
    try {
      return { records: await answer, hasFailed: false }
    } catch (error) {
      return { records: [], hasFailed: !absentCodes.has((error as { code?: unknown }).code) }
    }
  }
}

const keyOf = ({ host, isLocated }: Entry): string => `${host}|${isLocated}`

const entryOf = (uri: string): Entry | undefined => {
  const parsed = parseUri(uri, 'target')
  if (!isSipUri(parsed)) return undefined
  const host = parsed.host.toLowerCase().replace(/\.$/, '')
  const literal = isIP(host) > 0
  return {
    host,
    isLocated: !literal && parsed.port === undefined,
    addresses: new Map(literal ? [[canonicalAddress(host), Number.POSITIVE_INFINITY]] : []),
    lookedUpAt: literal ? 0 : undefined,
    hasFailed: false,
    pending: undefined,
  }
}
