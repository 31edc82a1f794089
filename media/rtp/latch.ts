import { isIP, SocketAddress } from 'node:net'
import type { FarEnd, Symmetric } from '../types.ts'

/** What a {@link Latch} may learn from. */
export interface LatchTarget {
  readonly address: string
  readonly port: number
  /** Default `strict`. */
  readonly symmetric?: Symmetric
  /** Where `same-ip` learns from as well. */
  readonly signalledFrom?: string
  /** Further addresses; see `FarEnd.learnFrom`. */
  readonly learnFrom?: readonly string[]
  /** Sources that the far end announced (`a=ssrc`); absent: any. */
  readonly ssrcs?: readonly number[]
}

/**
 * Where RTCP is exchanged. Of `first` it has no more than `same-ip`, and where RTP was learnt from: the first packet that anybody sends is
 * no better known for being RTCP.
 */
export const rtcpTarget = (far: FarEnd): LatchTarget => ({
  ...far,
  address: far.rtcpAddress ?? far.address,
  port: far.rtcpPort ?? (far.rtcpMux ? far.port : far.port + 1),
  ...(far.symmetric === 'first' && { symmetric: 'same-ip' }),
})

/** What came of a packet that is to be taken. */
export type Admission = 'kept' | 'learnt' | 'refused'

/**
 * For so long after the first packet a better source may still take the place of the one that sent it, in ms; and for so long after a
 * new description packets of the old source may be on their way.
 */
const SETTLE_MS = 3_000
/** A source that says nothing for so long does not bar another stream from its place, in ms. */
const SILENT_MS = 2_000

/** An IPv6 address is written in many ways, and a socket tells of it in one. */
const canonical = (address: string): string => {
  // What is no address agrees with nobody. With a zone it is one, which only the socket understands.
  if (isIP(address) !== 6 || address.includes('%')) return address
  return new SocketAddress({ address, family: 'ipv6' }).address
}

const canonicalTarget = (target: LatchTarget): LatchTarget => ({
  ...target,
  address: canonical(target.address),
  ...(target.signalledFrom !== undefined && { signalledFrom: canonical(target.signalledFrom) }),
  ...(target.learnFrom && { learnFrom: target.learnFrom.map(canonical) }),
})

/** How well a source fits the target: the higher, the better. */
const Fit = { none: 0, anybody: 1, vouched: 2, address: 3, exact: 4 } as const

/**
 * Source learning of one socket. Which sources agree is said by `Symmetric`; the first packet of one that agrees fixes it, and everybody
 * else is refused until {@link aim} is called again. Two exceptions, both short: a source that fits better (the exact address of the
 * SDP best of all) takes the place of one learnt just before; and after `aim` with the same target the source learnt before goes on,
 * until one other with the same stream appears (or, once it is silent, one with another stream whose address is known). So a packet of a stranger neither brings audio in nor takes audio away.
 */
export class Latch {
  /** Where packets go: the learnt source, or what the SDP said until there is one. */
  address = ''
  port = 0
  #target: LatchTarget | undefined
  #anyPort: boolean
  /** A source is known; it is {@link address} and {@link port}. */
  #known = false
  #fit: number = Fit.none
  /** The SSRC that the known source sent last. */
  #ssrc: number | undefined
  #heardAt = 0
  /** Nobody else is learnt until the next `aim`. */
  #settled = false
  /** Since {@link aim} nothing was learnt anew: the known source is that of before. */
  #again = false
  /** Of {@link follow}. */
  #stream: number | undefined
  #vouched: string | undefined
  #settlesAt = Number.POSITIVE_INFINITY

  /** With `anyPort` false the address and the port must be the target's: for far ends on the same host. */
  constructor(anyPort: boolean) {
    this.#anyPort = anyPort
  }

  /** Whether a source has been learnt. */
  get latched(): boolean {
    return this.#known
  }

  /** Whether packets would go to an address that is reachable only near the far end, because its source is not learnt yet. */
  get isHidden(): boolean {
    const target = this.#target
    return target?.learnFrom !== undefined && !this.#known && this.address === target.address
  }

  /**
   * Sets a target and permits one learning. While the target stays as it was, packets keep going to the source learnt before, and coming
   * from there, so that a session refresh does not cut off a far end behind a translator.
   */
  aim(to: LatchTarget): void {
    const target = canonicalTarget(to)
    const same = this.#target?.address === target.address && this.#target.port === target.port
    this.#target = target
    this.#settled = false
    this.#settlesAt = Number.POSITIVE_INFINITY
    this.#again = same && this.#known
    if (same) return
    this.#known = false
    this.#ssrc = undefined
    this.#stream = undefined
    this.#vouched = undefined
    this.address = target.address
    this.port = target.port
  }

  /**
   * For RTCP: RTP comes from there, and is that stream. RTCP of the same address and stream agrees as well; until it comes it is sent to
   * the port after RTP's, where the SDP said another address.
   */
  follow(address: string, port: number, ssrc: number): void {
    const target = this.#target
    if (!target) return
    this.#stream = ssrc
    this.#vouched = address
    if (this.#known || address === target.address || port === 0xffff) return
    this.address = address
    this.port = port + 1
  }

  /** Whether a packet from there may be looked at. Neither learns nor counts. */
  agrees(now: number, address: string, port: number): boolean {
    if (this.#known && port === this.port && address === this.address) return true
    if (this.#settled || now >= this.#settlesAt) return false
    const fit = this.#fitOf(address, port)
    return this.#known && !this.#again ? fit > this.#fit : fit > Fit.none
  }

  /**
   * Takes a packet that {@link agrees} and was checked in all else. `proven`: by its authentication tag, so that its SSRC needs no proof.
   * `refused`: it is another stream than the one expected, or heard until now.
   */
  admit(now: number, address: string, port: number, ssrc: number, proven = false): Admission {
    if (this.#known && port === this.port && address === this.address) {
      this.#ssrc = ssrc
      this.#heardAt = now
      if (!this.#settled) this.#settle(now)
      return 'kept'
    }
    const fit = this.#fitOf(address, port)
    if (
      fit !== Fit.exact &&
      !proven &&
      !this.#expects(now, ssrc, fit > Fit.anybody || address === this.address)
    )
      return 'refused'
    this.address = address
    this.port = port
    this.#known = true
    this.#fit = fit
    this.#ssrc = ssrc
    this.#heardAt = now
    this.#again = false
    this.#settlesAt = Number.POSITIVE_INFINITY
    this.#settle(now)
    return 'learnt'
  }

  /** Nothing fits better than the exact address; others wait a while for it. */
  #settle(now: number): void {
    if (this.#settlesAt === Number.POSITIVE_INFINITY) this.#settlesAt = now + SETTLE_MS
    if (this.#fit === Fit.exact || now >= this.#settlesAt) this.#settled = true
  }

  /** `named`: its address is the learnt one, or somebody told of it. */
  #expects(now: number, ssrc: number, named: boolean): boolean {
    const announced = this.#target?.ssrcs
    if (announced && announced.length > 0 && !announced.includes(ssrc)) return false
    if (this.#stream !== undefined) return ssrc === this.#stream
    if (!this.#again || ssrc === this.#ssrc) return true
    // A hold is silent for long, and permits a learning in its beginning and in its end: no stranger may wait for it.
    return named && now - this.#heardAt >= SILENT_MS
  }

  #fitOf(address: string, port: number): number {
    const target = this.#target
    if (!target) return Fit.none
    if (address === target.address) {
      if (port === target.port) return Fit.exact
      return this.#anyPort ? Fit.address : Fit.none
    }
    if (!this.#anyPort) return Fit.none
    // A far end sends in the family in which our description has an address.
    if (address.includes(':') !== target.address.includes(':')) return Fit.none
    const { symmetric = 'strict', signalledFrom, learnFrom } = target
    if (address === this.#vouched || learnFrom?.includes(address)) return Fit.vouched
    if (symmetric !== 'strict' && address === signalledFrom) return Fit.vouched
    return symmetric === 'first' ? Fit.anybody : Fit.none
  }
}
