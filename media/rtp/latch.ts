import { isIP, SocketAddress } from 'node:net'
import type { FarEnd, Symmetric } from '../types.ts'

/** Sources that a {@link Latch} may learn. */
export interface LatchTarget {
  readonly address: string
  readonly port: number
  /** Default `strict`. */
  readonly symmetric?: Symmetric
  /** Address of the signalling, a further source for `same-ip`. */
  readonly signalledFrom?: string
  /** Further addresses to learn the source from; see `FarEnd.learnFrom`. */
  readonly learnFrom?: readonly string[]
  /** SSRCs that the far end announced (`a=ssrc`); absent: any. */
  readonly ssrcs?: readonly number[]
}

/**
 * Returns the target for RTCP. `first` becomes `same-ip` plus the learnt RTP source: an unknown sender is not
 * more credible for sending RTCP.
 */
export const rtcpTarget = (far: FarEnd): LatchTarget => ({
  ...far,
  address: far.rtcpAddress ?? far.address,
  port: far.rtcpPort ?? (far.rtcpMux ? far.port : far.port + 1),
  ...(far.symmetric === 'first' && { symmetric: 'same-ip' }),
})

/** Result of admitting a packet. */
export type Admission = 'kept' | 'learnt' | 'refused'

/**
 * Time in ms after the first packet in which a better source may replace it. Also the time after a new
 * description in which packets of the old source may arrive.
 */
const settleMs = 3_000
/** Silence in ms after which a source no longer blocks another stream. */
const silentMs = 2_000

/** Returns the canonical form of an IPv6 address, which is the form that sockets report. */
const canonical = (address: string): string => {
  // A text that is not an address matches no source. An address with a zone is left as it is: only the socket
  // understands it.
  if (isIP(address) !== 6 || address.includes('%')) return address
  return new SocketAddress({ address, family: 'ipv6' }).address
}

const canonicalTarget = (target: LatchTarget): LatchTarget => ({
  ...target,
  address: canonical(target.address),
  ...(target.signalledFrom !== undefined && { signalledFrom: canonical(target.signalledFrom) }),
  ...(target.learnFrom && { learnFrom: target.learnFrom.map(canonical) }),
})

/** Ranks of how well a source matches the target. */
const Fit = { none: 0, any: 1, vouched: 2, address: 3, exact: 4 } as const

/**
 * Source learning of one socket. The first packet of a source permitted by `Symmetric` fixes the source. All
 * others are rejected until {@link setTarget} is called again, with two short exceptions:
 * - A better match (best: the exact SDP address) replaces a source learnt shortly before.
 * - After {@link setTarget} with the same target, the learnt source stays until another source sends the same
 * stream. Once the learnt source is silent, another stream of a known address is accepted too.
 *
 * So packets of untrusted sources neither inject audio nor divert it.
 */
export class Latch {
  /** Destination of packets: the learnt source, or the SDP address before learning. */
  address = ''
  port = 0
  #target: LatchTarget | undefined
  #isAnyPortAllowed: boolean
  /** Whether {@link address} and {@link port} belong to a learnt source. */
  #hasSource = false
  #fit: number = Fit.none
  /** Last SSRC of the learnt source. */
  #ssrc: number | undefined
  #heardAt = 0
  /** Whether no other source can be learnt until the next {@link setTarget}. */
  #isSettled = false
  /** Whether the learnt source dates from before the last {@link setTarget}. */
  #isSourceOld = false
  /** Stream and address set by {@link follow}. */
  #stream: number | undefined
  #vouched: string | undefined
  #settlesAt = Number.POSITIVE_INFINITY

  /**
   * `anyPort`: false for a far end on the same host. Address and port of the source must then match the
   * target.
   */
  constructor(anyPort: boolean) {
    this.#isAnyPortAllowed = anyPort
  }

  /** Whether a source has been learnt. */
  get isLatched(): boolean {
    return this.#hasSource
  }

  /**
   * Whether packets would go to the private address of the SDP, which is reachable only near the far end,
   * because no source is learnt yet.
   */
  get isHidden(): boolean {
    const target = this.#target
    return target?.learnFrom !== undefined && !this.#hasSource && this.address === target.address
  }

  /**
   * Sets a target and permits one learning. With an unchanged target, packets keep flowing to and from
   * the learnt source: a session refresh must not cut off a far end behind NAT.
   */
  setTarget(to: LatchTarget): void {
    const target = canonicalTarget(to)
    const same = this.#target?.address === target.address && this.#target.port === target.port
    this.#target = target
    this.#isSettled = false
    this.#settlesAt = Number.POSITIVE_INFINITY
    this.#isSourceOld = same && this.#hasSource
    if (same) return
    this.#hasSource = false
    this.#ssrc = undefined
    this.#stream = undefined
    this.#vouched = undefined
    this.address = target.address
    this.port = target.port
  }

  /**
   * For RTCP: sets the learnt RTP source and its stream. RTCP of that address and stream is accepted too.
   * Until RTCP arrives, it is sent to the port after RTP's if the SDP named another address.
   */
  follow(address: string, port: number, ssrc: number): void {
    const target = this.#target
    if (!target) return
    this.#stream = ssrc
    this.#vouched = address
    if (this.#hasSource || address === target.address || port === 0xffff) return
    this.address = address
    this.port = port + 1
  }

  /** Whether a packet of that source may be inspected. Changes no state. */
  accepts(now: number, address: string, port: number): boolean {
    if (this.#hasSource && port === this.port && address === this.address) return true
    if (this.#isSettled || now >= this.#settlesAt) return false
    const fit = this.#fitOf(address, port)
    return this.#hasSource && !this.#isSourceOld ? fit > this.#fit : fit > Fit.none
  }

  /**
   * Admits a packet that {@link accepts} accepted and that passed all other checks. `proven`: its tag is
   * authentic, so that its SSRC needs no check. Returns `refused` for another stream than expected or
   * received so far.
   */
  admit(now: number, address: string, port: number, ssrc: number, proven = false): Admission {
    if (this.#hasSource && port === this.port && address === this.address) {
      this.#ssrc = ssrc
      this.#heardAt = now
      if (!this.#isSettled) this.#settle(now)
      return 'kept'
    }
    const fit = this.#fitOf(address, port)
    if (fit !== Fit.exact && !proven && !this.#expects(now, ssrc, fit > Fit.any || address === this.address))
      return 'refused'
    this.address = address
    this.port = port
    this.#hasSource = true
    this.#fit = fit
    this.#ssrc = ssrc
    this.#heardAt = now
    this.#isSourceOld = false
    this.#settlesAt = Number.POSITIVE_INFINITY
    this.#settle(now)
    return 'learnt'
  }

  /** Ends learning: at once for the exact SDP address, for other sources after a delay. */
  #settle(now: number): void {
    if (this.#settlesAt === Number.POSITIVE_INFINITY) this.#settlesAt = now + settleMs
    if (this.#fit === Fit.exact || now >= this.#settlesAt) this.#isSettled = true
  }

  /**
   * Whether a packet of this stream may come from a new source. `named`: its address is the learnt one or a
   * known one.
   */
  #expects(now: number, ssrc: number, named: boolean): boolean {
    const announced = this.#target?.ssrcs
    if (announced && announced.length > 0 && !announced.includes(ssrc)) return false
    if (this.#stream !== undefined) return ssrc === this.#stream
    if (!this.#isSourceOld || ssrc === this.#ssrc) return true
    // A hold brings a long silence, with a new description before and after it. An untrusted source must not
    // be able to use this to be learnt.
    return named && now - this.#heardAt >= silentMs
  }

  #fitOf(address: string, port: number): number {
    const target = this.#target
    if (!target) return Fit.none
    if (address === target.address) {
      if (port === target.port) return Fit.exact
      return this.#isAnyPortAllowed ? Fit.address : Fit.none
    }
    if (!this.#isAnyPortAllowed) return Fit.none
    // A far end sends in the IP family of the address in the local description.
    if (address.includes(':') !== target.address.includes(':')) return Fit.none
    const { symmetric = 'strict', signalledFrom, learnFrom } = target
    if (address === this.#vouched || learnFrom?.includes(address)) return Fit.vouched
    if (symmetric !== 'strict' && address === signalledFrom) return Fit.vouched
    return symmetric === 'first' ? Fit.any : Fit.none
  }
}
