import type { Clock } from '../clock.ts'
import { Networks, senderOf } from '../networks.ts'
import type { Gatekeeper, Protocol } from '../transport/types.ts'
import type { ShieldReason, SipShield } from '../types.ts'
import { plainAddress } from './addresses.ts'
import { Bans } from './bans.ts'
import { RecentMap } from './recent-map.ts'
import { isResponse, userAgentOf } from './scan.ts'
import { fullTokenBucket, type TokenBucket, takeTokens } from './token-bucket.ts'

/** What brings an address nearer to a ban. */
export type Offense = 'malformed' | 'refused' | 'sign-in'

/** Most addresses of each kind that are remembered. */
const maxSources = 20_000
/** Most addresses that we have sent requests to and remember. */
const maxPeers = 10_000

/** A TLS handshake takes about a millisecond of the thread: as much as so many packets. */
const handshakePrice = 5

interface Source {
  /** What is banned with it. */
  readonly sender: string
  /** May send as much as known networks may, and is no stranger. */
  readonly isTrusted: boolean
  /** Packets that it may still send. */
  readonly bucket: TokenBucket
  /** Which of the lists of networks it was by which it was told whether it is trusted. */
  listVersion: number
}

/**
 * Decides what reaches the parser: a packet rate for each source, scanners, strangers, and a list of banned addresses. Everything it
 * remembers is bounded, and strangers share no memory with known networks, so that no flood pushes a carrier out. Without settings it
 * lets everything in.
 */
export class Shield implements Gatekeeper {
  readonly #clock: Pick<Clock, 'now'>
  readonly #dropped: Record<ShieldReason, number> = { rate: 0, banned: 0, scanner: 0, stranger: 0, tls: 0 }
  readonly #bans = new Bans()
  readonly #trusted = new RecentMap<Source>(maxSources)
  readonly #untrusted = new RecentMap<Source>(maxSources)
  /** Buckets of IPv6 strangers: addresses of one /64 share one. */
  readonly #shared = new RecentMap<TokenBucket>(maxSources)
  readonly #peers = new RecentMap<true>(maxPeers)
  /** Numbers of the calls to addresses that customers chose. */
  readonly #held = new Map<string, number>()
  #settings: SipShield | undefined
  readonly #known = new Networks()
  /** Counts the changes of the known networks. */
  #list = 0

  constructor(clock: Pick<Clock, 'now'>, settings?: SipShield) {
    this.#clock = clock
    if (settings) this.change(settings)
  }

  /**
   * Takes new settings. Bans that are running stay, and so does what each source has used of its rate: else whoever may change a list could
   * give everybody a new one. Throws for a network that is none, with everything as it was.
   */
  change(settings: SipShield): void {
    if (this.#known.change(settings.known)) this.#list++
    this.#settings = settings
  }

  /** What was dropped since the start. */
  get dropped(): Readonly<Record<ShieldReason, number>> {
    return { ...this.#dropped }
  }

  /** Addresses (of IPv6: networks) that are banned. */
  get banned(): number {
    return this.#bans.size(this.#clock.now())
  }

  /** Sources that are remembered; bounded. */
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
    // Nobody has to open a connection to answer us: responses come over that of the request.
    return source.isTrusted || settings.untrusted === 'answer' || this.#drop('stranger')
  }

  /** A TLS handshake with somebody who was accepted came to nothing. */
  handshakeFailed(): void {
    this.#drop('tls')
  }

  /** A piece of a stream may hold hundreds of messages: one for all of them would be no rate. Known networks are taken at their word. */
  admitsNext(from: string): boolean {
    const settings = this.#settings
    const address = plainAddress(from)
    return !settings || this.#isTrustedSource(address) || this.#pass(address, settings) !== undefined
  }

  /** True for an address of known networks. */
  isKnown(address: string): boolean {
    return this.#known.has(plainAddress(address))
  }

  /** True for an address of known networks, and for one that we have sent requests to; for everybody where there is no shield. */
  isTrusted(from: string): boolean {
    const address = plainAddress(from)
    return !this.#settings || this.#isTrustedSource(address) || this.#isTrusted(address)
  }

  /**
   * We send a request to an address. Its answers, and its own requests within the call, are expected from now on: it may send as much
   * as known networks may, and is no stranger.
   */
  trustPeer(to: string): void {
    const address = plainAddress(to)
    if (this.#peers.get(address)) return
    this.#peers.set(address, true)
    this.#untrusted.delete(address)
  }

  /**
   * Sends a request to an address that a customer chose: the same as {@link trustPeer}, until the function that it returns is called once
   * for each call.
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
   * Counts an offense. `proven`: the address is really the sender's, as on a connection, or as told by an answer that only the receiver
   * of ours could give. Where that is not so nothing is counted, or else one forged datagram after the other would ban a carrier. Known
   * networks are never banned.
   */
  recordOffense(from: string, proven: boolean, offense: Offense): void {
    const settings = this.#settings
    const address = plainAddress(from)
    if (!settings || !proven || this.#known.has(address)) return
    // Whom we call by our own choice may have a poor encoder.
    if (offense === 'malformed' && this.#isPeer(address)) return
    this.#bans.recordOffense(senderOf(address), this.#clock.now(), {
      after: settings.banAfter,
      forMs: settings.banForMs,
    })
  }

  /** The source, where it is not banned and has not used up its rate. `price`: packets that it is counted as. */
  #pass(address: string, settings: SipShield, price = 1): Source | undefined {
    const now = this.#clock.now()
    const source = this.#remembered(address) ?? this.#first(address, now)
    if (this.#bans.has(source.sender, now)) {
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

  /** True for an address that we have sent requests to, or that is called at the moment. */
  #isPeer(address: string): boolean {
    return this.#held.has(address) || this.#peers.get(address) !== undefined
  }

  /** Without a look at the networks. */
  #isTrustedSource(address: string): boolean {
    return this.#trusted.get(address)?.listVersion === this.#list
  }

  /** What is known of a source; nothing where new networks have made it another one. */
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
