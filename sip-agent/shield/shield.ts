import type { Clock } from '../clock.ts'
import { Networks, senderOf } from '../networks.ts'
import type { Gatekeeper, Protocol } from '../transport/types.ts'
import type { ShieldReason, SipShield } from '../types.ts'
import { plainAddress } from './addresses.ts'
import { Bans } from './bans.ts'
import { type Bucket, fullBucket, takeFrom } from './bucket.ts'
import { Recent } from './recent.ts'
import { isResponse, userAgentOf } from './scan.ts'

/** What brings an address nearer to a ban. */
export type Offence = 'malformed' | 'refused' | 'sign-in'

/** Most addresses of each kind that are remembered. */
const mostSources = 20_000
/** Most addresses that we have sent requests to and remember. */
const mostPeers = 10_000

/** A TLS handshake takes about a millisecond of the thread: as much as so many packets. */
const handshakePrice = 5

interface Source {
  /** What is banned with it. */
  readonly sender: string
  /** May send as much as known networks may, and is no stranger. */
  readonly trusted: boolean
  /** Packets that it may still send. */
  readonly bucket: Bucket
  /** Which of the lists of networks it was by which it was told whether it is trusted. */
  by: number
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
  readonly #trusted = new Recent<Source>(mostSources)
  readonly #strangers = new Recent<Source>(mostSources)
  /** Buckets of IPv6 strangers: addresses of one /64 share one. */
  readonly #shared = new Recent<Bucket>(mostSources)
  readonly #peers = new Recent<true>(mostPeers)
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
    return this.#trusted.size + this.#strangers.size + this.#shared.size + this.#peers.size + this.#held.size
  }

  admits(_protocol: Protocol, from: string, bytes: Uint8Array): boolean {
    const settings = this.#settings
    if (!settings) return true
    const address = plainAddress(from)
    const source = this.#pass(address, settings)
    if (!source) return false
    if (isResponse(bytes)) return true
    if (!source.trusted && settings.strangers === 'drop') return this.#drop('stranger')
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
    return source.trusted || settings.strangers === 'answer' || this.#drop('stranger')
  }

  /** A TLS handshake with somebody who was accepted came to nothing. */
  handshakeFailed(): void {
    this.#drop('tls')
  }

  /** A piece of a stream may hold hundreds of messages: one for all of them would be no rate. Known networks are taken at their word. */
  follows(from: string): boolean {
    const settings = this.#settings
    const address = plainAddress(from)
    return !settings || this.#isTrustedSource(address) || this.#pass(address, settings) !== undefined
  }

  /** True for an address of known networks. */
  knows(address: string): boolean {
    return this.#known.has(plainAddress(address))
  }

  /** True for an address of known networks, and for one that we have sent requests to; for everybody where there is no shield. */
  trusts(from: string): boolean {
    const address = plainAddress(from)
    return !this.#settings || this.#isTrustedSource(address) || this.#isTrusted(address)
  }

  /**
   * We send a request to an address. Its answers, and its own requests within the call, are expected from now on: it may send as much
   * as known networks may, and is no stranger.
   */
  meets(to: string): void {
    const address = plainAddress(to)
    if (this.#peers.get(address)) return
    this.#peers.set(address, true)
    this.#strangers.delete(address)
  }

  /**
   * Sends a request to an address that a customer chose: the same as {@link meets}, until the function that it returns is called once
   * for each call.
   */
  hold(to: string): () => void {
    const address = plainAddress(to)
    this.#held.set(address, (this.#held.get(address) ?? 0) + 1)
    this.#strangers.delete(address)
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
   * Counts an offence. `proven`: the address is really the sender's, as on a connection, or as told by an answer that only the receiver
   * of ours could give. Where that is not so nothing is counted, or else one forged datagram after the other would ban a carrier. Known
   * networks are never banned.
   */
  offend(from: string, proven: boolean, offence: Offence): void {
    const settings = this.#settings
    const address = plainAddress(from)
    if (!settings || !proven || this.#known.has(address)) return
    // Whom we call by our own choice may have a poor encoder.
    if (offence === 'malformed' && this.#isPeer(address)) return
    this.#bans.offend(senderOf(address), this.#clock.now(), {
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
    const { bucket, trusted } = source
    const rate = trusted ? settings.knownPacketsPerSecond : settings.packetsPerSecond
    if (takeFrom(bucket, rate, now, price)) return source
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
    return this.#trusted.get(address)?.by === this.#list
  }

  /** What is known of a source; nothing where new networks have made it another one. */
  #remembered(address: string): Source | undefined {
    const source = this.#trusted.get(address) ?? this.#strangers.get(address)
    if (!source || source.by === this.#list) return source
    if (source.trusted === this.#isTrusted(address)) {
      source.by = this.#list
      return source
    }
    this.#trusted.delete(address)
    this.#strangers.delete(address)
    return undefined
  }

  #first(address: string, now: number): Source {
    const trusted = this.#isTrusted(address)
    const sender = senderOf(address)
    const bucket = trusted ? fullBucket(now) : this.#bucketOf(sender, now)
    const source = { sender, trusted, bucket, by: this.#list }
    if (trusted) this.#trusted.set(address, source)
    else this.#strangers.set(address, source)
    return source
  }

  #bucketOf(sender: string, now: number): Bucket {
    if (!sender.includes(':')) return fullBucket(now)
    const shared = this.#shared.get(sender) ?? fullBucket(now)
    this.#shared.set(sender, shared)
    return shared
  }

  #drop(reason: ShieldReason): false {
    this.#dropped[reason]++
    return false
  }
}
