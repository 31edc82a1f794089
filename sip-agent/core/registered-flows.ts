import { isIP } from 'node:net'
import type { Clock, Timer } from '../clock.ts'
import type { RawResponse, SipRequest } from '../message/message.ts'
import { type NameAddr, parseNameAddrs } from '../message/name-addr.ts'
import { SipParseError } from '../message/sip-parse-error.ts'
import { isSipUri, parseUri } from '../message/uri.ts'
import type { Flow } from '../transport/types.ts'

/** Expired entries go every 30 s. */
const sweepEvery = 30_000
/** Lifetime where neither side says one, in ms (RFC 3261 10.2.1.1 leaves it open; an hour is usual). */
const defaultLifetime = 3_600_000
/** Contacts of one connection, and connections of one contact. */
const maxPerFlow = 64
const maxPerContact = 16
const loopback = /^(?:127\.|::1$)/
const local =
  /^(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|169\.254\.|f[cd]|fe80:)/i

/** The requests outside dialogs that go over a remembered connection. */
const carried: ReadonlySet<string> = new Set(['INVITE', 'OPTIONS', 'NOTIFY', 'MESSAGE'])

interface Entry {
  readonly flow: Flow
  /** Port of the contact, where it has one. */
  readonly port: number | undefined
  /** Who registered: To of the request. */
  readonly owner: string
  readonly until: number
}

/**
 * Which connection leads to the contact of a REGISTER or SUBSCRIBE that an application accepted: a browser's or a phone's behind a NAT
 * cannot be reached in another way. It is kept for the granted time, and goes with the connection.
 *
 * A contact whose host is a name of the real DNS, or an address that is public or of a known network and not the connection's own, is not
 * taken: nobody may have calls for some carrier's number sent to himself by registering that carrier's URI, of a carrier in a private
 * network neither. Where two users have the same contact, as
 * phones behind two NATs may, it leads nowhere: better no call than one to a stranger.
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
   * `isKnown` tells whether an address is of a known network; default none is. `most` entries are kept; what comes beyond is not
   * remembered. Default 100,000.
   */
  constructor(clock: Clock, isKnown: (address: string) => boolean = () => false, most = 100_000) {
    this.#clock = clock
    this.#isKnown = isKnown
    this.#most = most
  }

  /** Contacts that are remembered. */
  get size(): number {
    return this.#size
  }

  /** An application accepted a REGISTER or SUBSCRIBE: learns, renews or forgets its contacts. Call it with every answer that goes out. */
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

  /** The connection to the contact that a new request names; undefined where there is none, or the method goes its usual way. */
  outside(method: string, uri: string): Flow | undefined {
    return carried.has(method) ? this.find(uri) : undefined
  }

  /** The connection to a contact: the last one, where its user has several. */
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
    return isIP(host) > 0 && (local.test(host) || loopback.test(host)) && !this.#isKnown(host)
  }

  /** A connection is gone. */
  lost(flow: Flow): void {
    for (const key of [...(this.#byFlow.get(flow) ?? [])]) this.#forget(key, flow)
  }

  /** Forgets everything. */
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

  /** `Contact: *` removes every contact of the address of record (RFC 3261 10.2.2), here as far as this connection has them. */
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

/** What an application wrote may be broken; then it says nothing. */
const addresses = (values: readonly string[]): NameAddr[] => {
  try {
    return parseNameAddrs(
      values.filter((value) => value !== '*'),
      'Contact',
    )
  } catch (error) {
    if (error instanceof SipParseError) return []
    throw error
  }
}

/** user@host, the host without case; undefined for what is no SIP URI with a user. */
const keyOf = (uri: string): string | undefined => {
  try {
    const parsed = parseUri(uri)
    return isSipUri(parsed) && parsed.user !== undefined
      ? `${parsed.user}@${parsed.host.toLowerCase()}`
      : undefined
  } catch (error) {
    if (error instanceof SipParseError) return undefined
    throw error
  }
}

const seconds = (text: string | undefined): number | undefined =>
  text !== undefined && /^\s*\d{1,9}\s*$/.test(text) ? Number(text) : undefined

/** The granted lifetime in ms: what the answer says of this contact, or of all; else what was asked. */
const lifetimeOf = (request: SipRequest, response: RawResponse, contact: NameAddr): number => {
  const granted = addresses(response.headers.all('contact')).find(
    (each) => request.method === 'REGISTER' && keyOf(each.uri) === keyOf(contact.uri),
  )
  const asked =
    seconds(contact.params.get('expires')) ??
    seconds(request.headers.first('expires')) ??
    defaultLifetime / 1_000
  const said = seconds(granted?.params.get('expires')) ?? seconds(response.headers.first('expires'))
  // What was asked to be removed is gone, whatever else the answer lists.
  return asked === 0 ? 0 : (said ?? asked) * 1_000
}
