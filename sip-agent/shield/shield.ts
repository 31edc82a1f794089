import type { Clock } from '../clock.ts'
import { plainAddress, senderOf } from '../ip/address.ts'
import { Networks } from '../ip/networks.ts'
import type { Gatekeeper, Protocol } from '../transport/types.ts'
import { Bans } from './bans.ts'
import { RecentMap } from './recent-map.ts'
import { isResponse, userAgentOf } from './scan.ts'
import type { ShieldReason, SipShield } from './shield-settings.ts'
import { fullTokenBucket, type TokenBucket, takeTokens } from './token-bucket.ts'

/** Kind of offence that counts towards a ban. */
export type Offense = 'malformed' | 'refused' | 'sign-in'

/** Maximum number of remembered addresses of each kind. */
const maxSources = 20_000
/** Maximum number of remembered addresses that the agent has sent requests to. */
const maxPeers = 10_000

/** Number of packets that a TLS handshake counts as, because it takes about a millisecond of CPU time. */
const handshakePrice = 5

interface Source {
  /** Unit of a ban: address, or network of an IPv6 address. */
  readonly sender: string
  /** Whether the source may send as much as known networks, and is never dropped as untrusted. */
  readonly isTrusted: boolean
  /** Packets that the source may still send. */
  readonly bucket: TokenBucket
  /** Version of the list of known networks from which {@link isTrusted} was determined. */
  listVersion: number
}

/**
 * Filter in front of the parser. It limits the packet rate of each source, and drops scanners, banned
 * addresses and, if so configured, untrusted sources. Its memory is bounded. Untrusted sources and known
 * networks have separate memory, so that no flood displaces a carrier. Without settings every packet passes.
 */
export class Shield implements Gatekeeper {
  readonly #clock: Pick<Clock, 'now'>
  readonly #dropped: Record<ShieldReason, number> = { rate: 0, banned: 0, scanner: 0, stranger: 0, tls: 0 }
  readonly #bans = new Bans()
  readonly #trusted = new RecentMap<Source>(maxSources)
  readonly #untrusted = new RecentMap<Source>(maxSources)
  /** Buckets of untrusted IPv6 sources: addresses of one /64 share one. */
  readonly #shared = new RecentMap<TokenBucket>(maxSources)
  readonly #peers = new RecentMap<true>(maxPeers)
  /** Number of current calls to each address that a customer chose. */
  readonly #held = new Map<string, number>()
  #settings: SipShield | undefined
  readonly #known = new Networks()
  /** Version of the list of known networks. */
  #list = 0

  constructor(clock: Pick<Clock, 'now'>, settings?: SipShield) {
    this.#clock = clock
    if (settings) this.change(settings)
  }

  /**
   * Applies new settings. Bans stay, without effect in known networks. The used part of each source's rate
   * stays, too: otherwise a user who may change a list could reset every rate. Throws for a text that is not
   * a network, and changes nothing then.
   */
  change(settings: SipShield): void {
    if (this.#known.change(settings.known)) this.#list++
    this.#settings = settings
  }

  /** Number of drops since the start, by reason. */
  get dropped(): Readonly<Record<ShieldReason, number>> {
    return { ...this.#dropped }
  }

  /** Number of banned addresses (networks, for IPv6). */
  get banned(): number {
    return this.#bans.size(this.#clock.now())
  }

  /** Number of remembered sources; bounded. */
  get sources(): number {
    return this.#trusted.size + this.#untrusted.size + this.#shared.size + this.#peers.size + this.#held.size
  }

  admits(_protocol: Protocol, from: string, bytes: Uint8Array): boolean {
    const settings = this.#settings
    if (!settings) return true
    const address = plainAddress(from)
    const source = this.#pass(address, settings)
    if (!source) return false
    if (isResponse(bytes)) return true
    if (!source.isTrusted && settings.untrusted === 'drop') return this.#drop('stranger')
    if (settings.scanners.length === 0) return true
    const agent = userAgentOf(bytes)
    return agent === '' || !settings.scanners.some((part) => agent.includes(part)) || this.#drop('scanner')
  }

  accepts(protocol: Protocol, from: string): boolean {
    const settings = this.#settings
    if (!settings) return true
    const price = protocol === 'tls' || protocol === 'wss' ? handshakePrice : 1
    const source = this.#pass(plainAddress(from), settings, price)
    if (!source) return false
    // Only requests need a new connection: responses arrive on the connection of the request.
    return source.isTrusted || settings.untrusted === 'answer' || this.#drop('stranger')
  }

  /** Counts a failed TLS handshake of an accepted connection. */
  handshakeFailed(): void {
    this.#drop('tls')
  }

  /**
   * Returns whether the rate admits another message of the same chunk, which may hold hundreds. Trusted
   * sources are not counted here.
   */
  admitsNext(from: string): boolean {
    const settings = this.#settings
    const address = plainAddress(from)
    return !settings || this.#isTrustedSource(address) || this.#pass(address, settings) !== undefined
  }

  /** Returns whether an address is in a known network. */
  isKnown(address: string): boolean {
    return this.#known.has(plainAddress(address))
  }

  /**
   * Returns whether an address is in a known network, or the agent has sent requests to it. Always true
   * without settings.
   */
  isTrusted(from: string): boolean {
    const address = plainAddress(from)
    return !this.#settings || this.#isTrustedSource(address) || this.#isTrusted(address)
  }

  /**
   * Trusts an address that the agent sends a request to. Responses and requests within the call are expected
   * from this address, so it may send as much as known networks.
   */
  trustPeer(to: string): void {
    const address = plainAddress(to)
    if (this.#peers.get(address)) return
    this.#peers.set(address, true)
    this.#untrusted.delete(address)
  }

  /**
   * Trusts an address that a customer chose, like {@link trustPeer}, but only for one call: until the
   * returned function is called.
   */
  trustTemporarily(to: string): () => void {
    const address = plainAddress(to)
    this.#held.set(address, (this.#held.get(address) ?? 0) + 1)
    this.#untrusted.delete(address)
    let isReleased = false
    return () => {
      if (isReleased) return
      isReleased = true
      this.#release(address)
    }
  }

  #release(address: string): void {
    const left = (this.#held.get(address) ?? 1) - 1
    if (left > 0) this.#held.set(address, left)
    else this.#held.delete(address)
    if (!this.#isTrusted(address)) this.#trusted.delete(address)
  }

  /**
   * Counts an offence. `proven`: whether the address is certainly the sender's, as on a connection, or after
   * a reply that only the owner of the address could send. Unproven offences do not count: otherwise spoofed
   * datagrams could ban a carrier. Known networks are never banned.
   */
  recordOffense(from: string, proven: boolean, offense: Offense): void {
    const settings = this.#settings
    const address = plainAddress(from)
    if (!settings || !proven || this.#known.has(address)) return
    // Malformed messages do not count for a peer that the agent itself calls: the peer's SIP stack may be
    // poor.
    if (offense === 'malformed' && this.#isPeer(address)) return
    this.#bans.recordOffense(senderOf(address), this.#clock.now(), {
      after: settings.banAfter,
      forMs: settings.banForMs,
    })
  }

  /**
   * Returns the source, unless it is banned or exceeds its rate. A ban has no effect while the address is in
   * a known network: an operator lists a carrier that was banned before. `price`: number of packets to count.
   */
  #pass(address: string, settings: SipShield, price = 1): Source | undefined {
    const now = this.#clock.now()
    const source = this.#remembered(address) ?? this.#first(address, now)
    if (this.#bans.has(source.sender, now) && !this.#known.has(address)) {
      this.#drop('banned')
      return undefined
    }
    const { bucket, isTrusted } = source
    const rate = isTrusted ? settings.knownPacketsPerSecond : settings.packetsPerSecond
    if (takeTokens(bucket, rate, now, price)) return source
    this.#drop('rate')
    return undefined
  }

  #isTrusted(address: string): boolean {
    return this.#known.has(address) || this.#isPeer(address)
  }

  /** Returns whether the agent has sent requests to an address, or calls it at present. */
  #isPeer(address: string): boolean {
    return this.#held.has(address) || this.#peers.get(address) !== undefined
  }

  /** Returns the same as {@link isTrusted} for a remembered source, without a search of the networks. */
  #isTrustedSource(address: string): boolean {
    return this.#trusted.get(address)?.listVersion === this.#list
  }

  /** Returns a remembered source; undefined if new networks have changed its trust. */
  #remembered(address: string): Source | undefined {
    const source = this.#trusted.get(address) ?? this.#untrusted.get(address)
    if (!source || source.listVersion === this.#list) return source
    if (source.isTrusted === this.#isTrusted(address)) {
      source.listVersion = this.#list
      return source
    }
    this.#trusted.delete(address)
    this.#untrusted.delete(address)
    return undefined
  }

  #first(address: string, now: number): Source {
    const isTrusted = this.#isTrusted(address)
    const sender = senderOf(address)
    const bucket = isTrusted ? fullTokenBucket(now) : this.#bucketOf(sender, now)
    const source = { sender, isTrusted, bucket, listVersion: this.#list }
    if (isTrusted) this.#trusted.set(address, source)
    else this.#untrusted.set(address, source)
    return source
  }

  #bucketOf(sender: string, now: number): TokenBucket {
    if (!sender.includes(':')) return fullTokenBucket(now)
    const shared = this.#shared.get(sender) ?? fullTokenBucket(now)
    this.#shared.set(sender, shared)
    return shared
  }

  #drop(reason: ShieldReason): false {
    this.#dropped[reason]++
    return false
  }
}
