import type { Clock, Timer } from '../clock.ts'
import { isPrivate } from '../ip/special-purpose.ts'
import type { RawResponse, SipRequest } from '../message/message.ts'
import { type NameAddr, parseNameAddrs } from '../message/name-addr.ts'
import { withoutFault } from '../message/sip-parse-error.ts'
import { isSipUri, parseUri } from '../message/uri.ts'
import type { Flow } from '../transport/types.ts'

/** Interval in ms at which expired entries are removed. */
const sweepEvery = 30_000
/**
 * Lifetime in ms if neither the request nor the response names a lifetime. RFC 3261 10.2.1.1 does not define
 * it; an hour is usual.
 */
const defaultLifetime = 3_600_000
/** Maximum number of contacts of one connection, and of connections of one contact. */
const maxPerFlow = 64
const maxPerContact = 16

/** Methods of requests outside dialogs that are sent over a remembered connection. */
const carried: ReadonlySet<string> = new Set(['INVITE', 'OPTIONS', 'NOTIFY', 'MESSAGE'])

interface Entry {
  readonly flow: Flow
  /** Port of the contact, if it has one. */
  readonly port: number | undefined
  /** Address of record of the contact: the To of the request. */
  readonly owner: string
  readonly until: number
}

/**
 * Connections that lead to the contact of an accepted REGISTER or SUBSCRIBE. A browser, or a phone behind a
 * NAT, cannot be reached in any other way. An entry lasts for the granted time, at most until its connection
 * ends.
 *
 * A contact is not accepted if its host is a name that DNS could resolve. An address is not accepted if it is
 * public or in a known network, unless it is the remote address of the connection. Otherwise a client could
 * register a carrier's URI and receive the calls to it. If two users register the same contact, as phones
 * behind two NATs may, no connection is returned: a call must not reach the wrong user.
 */
export class RegisteredFlows {
  readonly #clock: Clock
  readonly #most: number
  readonly #isKnown: (address: string) => boolean
  readonly #byKey = new Map<string, Entry[]>()
  readonly #byFlow = new Map<Flow, Set<string>>()
  #size = 0
  #sweep: Timer | undefined

  /**
   * `isKnown`: returns whether an address is in a known network; default: no address is. `most`: maximum
   * number of entries, default 100,000; further contacts are not stored.
   */
  constructor(clock: Clock, isKnown: (address: string) => boolean = () => false, most = 100_000) {
    this.#clock = clock
    this.#isKnown = isKnown
    this.#most = most
  }

  /** Number of stored contacts. */
  get size(): number {
    return this.#size
  }

  /**
   * Adds, renews or removes the contacts of a REGISTER or SUBSCRIBE that an application accepted. Must be
   * called with every 2xx response; other methods have no effect.
   */
  learn(request: SipRequest, response: RawResponse, flow: Flow) {
    if (request.method !== 'REGISTER' && request.method !== 'SUBSCRIBE') return
    if (response.status < 200 || response.status >= 300 || flow.local.protocol === 'udp' || flow.isClosed)
      return
    const owner = request.to.uri
    if (request.headers.first('contact') === '*') return this.#forgetOwner(owner, flow)
    for (const contact of addresses(request.headers.all('contact'))) {
      const key = keyOf(contact.uri)
      if (!key || !this.#trusts(contact, flow)) continue
      const lifetime = lifetimeOf(request, response, contact)
      const port = isSipUri(contact.target) ? contact.target.port : undefined
      this.#forget(key, flow)
      if (lifetime > 0) this.#keep(key, { flow, port, owner, until: this.#clock.now() + lifetime })
    }
  }

  /**
   * Returns the connection to the contact that a new request names. Returns undefined if there is no such
   * connection, or the method does not use it.
   */
  outside(method: string, uri: string): Flow | undefined {
    return carried.has(method) ? this.find(uri) : undefined
  }

  /** Returns the connection to a contact. If its user has several connections, returns the latest. */
  find(uri: string): Flow | undefined {
    if (this.#size === 0) return undefined
    const entries = this.#byKey.get(keyOf(uri) ?? '')
    if (!entries) return undefined
    const parsed = parseUri(uri)
    const asked = isSipUri(parsed) ? parsed.port : undefined
    const now = this.#clock.now()
    const fitting = entries.filter(
      ({ flow, until, port }) =>
        !flow.isClosed && until > now && (asked === undefined || port === undefined || asked === port),
    )
    const last = fitting.at(-1)
    return fitting.every(({ owner }) => owner === last?.owner) ? last?.flow : undefined
  }

  #trusts({ target }: NameAddr, flow: Flow): boolean {
    if (!isSipUri(target)) return false
    const { host } = target
    if (host.toLowerCase().replace(/\.$/, '').endsWith('.invalid')) return true
    if (host === flow.remote.address) return true
    return isPrivate(host) && !this.#isKnown(host)
  }

  /** Removes the contacts of a lost connection. */
  lost(flow: Flow): void {
    for (const key of [...(this.#byFlow.get(flow) ?? [])]) this.#forget(key, flow)
  }

  /** Removes all entries. */
  close(): void {
    this.#sweep?.cancel()
    this.#sweep = undefined
    this.#byKey.clear()
    this.#byFlow.clear()
    this.#size = 0
  }

  #keep(key: string, entry: Entry): void {
    const keys = this.#byFlow.get(entry.flow) ?? new Set()
    const entries = this.#byKey.get(key) ?? []
    if (this.#size >= this.#most || keys.size >= maxPerFlow || entries.length >= maxPerContact) return
    this.#byKey.set(key, [...entries, entry])
    this.#byFlow.set(entry.flow, keys.add(key))
    this.#size++
    this.#sweep ??= this.#clock.after(sweepEvery, () => this.#purge())
  }

  #forget(key: string, flow: Flow): void {
    const entries = this.#byKey.get(key) ?? []
    const left = entries.filter((each) => each.flow !== flow)
    if (left.length === entries.length) return
    this.#size--
    if (left.length > 0) this.#byKey.set(key, left)
    else this.#byKey.delete(key)
    const keys = this.#byFlow.get(flow)
    keys?.delete(key)
    if (keys?.size === 0) this.#byFlow.delete(flow)
    if (this.#size > 0) return
    this.#sweep?.cancel()
    this.#sweep = undefined
  }

  /**
   * Removes all contacts of an address of record on one connection, for `Contact: *` (RFC 3261 10.2.2).
   */
  #forgetOwner(owner: string, flow: Flow): void {
    for (const key of [...(this.#byFlow.get(flow) ?? [])])
      if (this.#byKey.get(key)?.some((each) => each.flow === flow && each.owner === owner))
        this.#forget(key, flow)
  }

  #purge(): void {
    this.#sweep = undefined
    const now = this.#clock.now()
    for (const [key, entries] of [...this.#byKey])
      for (const { flow, until } of entries) if (until <= now) this.#forget(key, flow)
    if (this.#size > 0) this.#sweep ??= this.#clock.after(sweepEvery, () => this.#purge())
  }
}

/** Parses name-addr values of an application; empty if they are malformed. */
const addresses = (values: readonly string[]): NameAddr[] => {
  const listed = values.filter((value) => value !== '*')
  return withoutFault(() => parseNameAddrs(listed, 'Contact')) ?? []
}

/** Returns user@host with the host in lower case; undefined unless the text is a SIP URI with a user. */
const keyOf = (uri: string): string | undefined => {
  const parsed = withoutFault(() => parseUri(uri))
  return parsed && isSipUri(parsed) && parsed.user !== undefined
    ? `${parsed.user}@${parsed.host.toLowerCase()}`
    : undefined
}

const seconds = (text: string | undefined): number | undefined =>
  text !== undefined && /^\s*\d{1,9}\s*$/.test(text) ? Number(text) : undefined

/**
 * Returns the lifetime of a contact in ms: the lifetime that the response grants to this contact or to all
 * contacts, otherwise the requested lifetime.
 */
const lifetimeOf = (request: SipRequest, response: RawResponse, contact: NameAddr): number => {
  const granted = addresses(response.headers.all('contact')).find(
    (each) => request.method === 'REGISTER' && keyOf(each.uri) === keyOf(contact.uri),
  )
  const asked =
    seconds(contact.params.get('expires')) ??
    seconds(request.headers.first('expires')) ??
    defaultLifetime / 1_000
  const said = seconds(granted?.params.get('expires')) ?? seconds(response.headers.first('expires'))
  // A lifetime of 0 in the request removes the contact, whatever lifetime the response names.
  return asked === 0 ? 0 : (said ?? asked) * 1_000
}
