import type { SrtpSuite } from '../types.ts'
import { headerBytes } from './packet.ts'
import { ReplayWindow } from './replay-window.ts'
import { CounterMode } from './srtp-counter.ts'
import { Gcm } from './srtp-gcm.ts'
import { deriveKeys, type SessionKeys } from './srtp-keys.ts'
import { suiteInfo } from './srtp-suites.ts'
import { rtcpClearBytes, type Transform } from './srtp-transform.ts'

/** Maximum number of sources whose indices are remembered. Only an authentic packet adds one. */
const maxSources = 8
const rtcpIndexLimit = 2 ** 31
/**
 * Maximum number of roll-over counters after the likeliest that are tried for a packet. Covers a silence of
 * up to an hour in which the far side kept counting packets of 20 ms. Only packets from the learnt source are
 * tried.
 */
const countersAhead = 4

const noPacket = Buffer.alloc(0)

/** Returns the offset of the payload; undefined if the packet is too short for RTP. */
const payloadStart = (packet: Buffer, end: number): number | undefined => {
  if (end < headerBytes) return undefined
  const first = packet[0]!
  let start = headerBytes + (first & 0x0f) * 4
  if (first & 0x10) {
    if (start + 4 > end) return undefined
    start += 4 + packet.readUInt16BE(start + 2) * 4
  }
  return start <= end ? start : undefined
}

/** Transforms of one direction. */
interface Transforms {
  readonly rtp: Transform
  readonly rtcp: Transform
}

/** Creates a transform from session keys; {@link transformsOf} derives those. */
export const transformOf = (suite: SrtpSuite, kind: 'rtp' | 'rtcp', keys: SessionKeys): Transform => {
  const { mode, tagBytes, rtcpTagBytes } = suiteInfo[suite]
  return mode === 'gcm' ? new Gcm(keys) : new CounterMode(keys, kind === 'rtp' ? tagBytes : rtcpTagBytes)
}

const transformsOf = (suite: SrtpSuite, master: Uint8Array): Transforms => ({
  rtp: transformOf(suite, 'rtp', deriveKeys(suite, master, 'rtp')),
  rtcp: transformOf(suite, 'rtcp', deriveKeys(suite, master, 'rtcp')),
})

/** Encryption of the packets that one port sends (RFC 3711). All its RTP packets have one SSRC. */
export class SrtpSender {
  #transforms: Transforms
  /** Indices of sent packets (roll-over counter and sequence number). */
  #sent = new ReplayWindow()
  #rtcpIndex = 0

  constructor(suite: SrtpSuite, master: Uint8Array) {
    this.#transforms = transformsOf(suite, master)
  }

  /** Whether no packet was sent yet. */
  get isUnused(): boolean {
    return this.#sent.newest < 0
  }

  /**
   * Returns the encrypted packet in a new buffer. Empty: the index was used already, or may have been, so
   * nothing must be sent. Two payloads under one index would reveal their difference, and with GCM the
   * authentication key (RFC 7714 section 8.1).
   */
  protect(packet: Buffer): Buffer {
    const sequence = packet.readUInt16BE(2)
    // Forwarded packets may be out of order, so a packet may belong before the roll-over.
    const roc = this.isUnused ? 0 : guess(this.#sent.newest, sequence)
    const number = roc * 0x10000 + sequence
    if (!this.#sent.permits(number)) return noPacket
    this.#sent.take(number)
    const start = payloadStart(packet, packet.length) ?? packet.length
    const ssrc = packet.readUInt32BE(8)
    return this.#transforms.rtp.sealRtp(packet, start, ssrc, roc >>> 16, lowerOf(roc, sequence))
  }

  /** Encrypts an RTCP compound (RFC 3711 section 3.4). */
  protectRtcp(packet: Buffer): Buffer {
    this.#rtcpIndex = (this.#rtcpIndex + 1) % rtcpIndexLimit
    return this.#transforms.rtcp.sealRtcp(packet, packet.readUInt32BE(4), this.#rtcpIndex)
  }
}

/**
 * Authentication and decryption of the packets that one port receives (RFC 3711). A rejected packet changes
 * no state.
 */
export class SrtpReceiver {
  #transforms: Transforms
  #sources = new Map<number, ReplayWindow>()
  #rtcpSources = new Map<number, ReplayWindow>()
  /** Roll-over counters under the previous keys: the far side may continue or restart them. */
  #before: ReadonlyMap<number, ReplayWindow> | undefined

  /** `before` is the receiver of the replaced master key. */
  constructor(suite: SrtpSuite, master: Uint8Array, before?: SrtpReceiver) {
    this.#transforms = transformsOf(suite, master)
    if (!before) return
    // During hold, keys may change several times without a packet in between.
    this.#before = new Map([...(before.#before ?? []), ...before.#sources].slice(-maxSources))
  }

  /** Returns the plain packet, decrypted in place; undefined if not authentic, repeated or too old. */
  unprotect(packet: Buffer): Buffer | undefined {
    const { rtp } = this.#transforms
    const end = packet.length - rtp.tagBytes
    const start = payloadStart(packet, end)
    if (start === undefined) return undefined
    const ssrc = packet.readUInt32BE(8)
    const sequence = packet.readUInt16BE(2)
    const window = this.#sources.get(ssrc)
    const first = this.#likeliest(ssrc, sequence, window)
    for (let attempt = 0; ; attempt++) {
      const roc = this.#counter(ssrc, first, window, attempt)
      if (roc === undefined) return undefined
      const number = roc * 0x10000 + sequence
      if (window && !window.permits(number)) continue
      if (!rtp.openRtp(packet, start, ssrc, roc >>> 16, lowerOf(roc, sequence))) continue
      remember(this.#sources, ssrc, window).take(number)
      return packet.subarray(0, end)
    }
  }

  /** Decrypts an RTCP compound; an unencrypted one (permitted by RFC 3711 section 3.4) is rejected. */
  unprotectRtcp(packet: Buffer): Buffer | undefined {
    const { rtcp } = this.#transforms
    const word = rtcp.rtcpWord(packet)
    if (word === undefined || word < 0x80000000 || packet.length < rtcpClearBytes) return undefined
    const index = word - 0x80000000
    const ssrc = packet.readUInt32BE(4)
    const window = this.#rtcpSources.get(ssrc)
    if (window && !window.permits(index)) return undefined
    const plain = rtcp.openRtcp(packet, ssrc, index)
    if (plain) remember(this.#rtcpSources, ssrc, window).take(index)
    return plain
  }

  /** Returns the likeliest roll-over counter of a packet (RFC 3711 section 3.3.1). */
  #likeliest(ssrc: number, sequence: number, window: ReplayWindow | undefined): number {
    const known = window ?? this.#before?.get(ssrc)
    return known ? guess(known.newest, sequence) : 0
  }

  /** Returns the roll-over counter for the next attempt; undefined after the last. */
  #counter(
    ssrc: number,
    first: number,
    window: ReplayWindow | undefined,
    attempt: number,
  ): number | undefined {
    if (attempt === 0) return first
    if (window) return attempt <= countersAhead ? first + attempt : undefined
    // The first packets may have been lost with the roll-over, or the far side restarts with its new key.
    const others = this.#before?.has(ssrc) ? [first + 1, 0, 1] : [1]
    return others[attempt - 1]
  }
}

/** Returns the lower 32 bits of the index: 16 of the counter, and the sequence number. */
const lowerOf = (roc: number, sequence: number): number => (((roc & 0xffff) << 16) | sequence) >>> 0

/** Returns the counter that places the packet nearest to the newest. */
const guess = (newest: number, sequence: number): number => {
  const roc = Math.floor(newest / 0x10000)
  const last = newest % 0x10000
  if (sequence - last > 0x8000) return Math.max(0, roc - 1)
  if (last - sequence > 0x8000) return roc + 1
  return roc
}

const remember = (
  sources: Map<number, ReplayWindow>,
  ssrc: number,
  known: ReplayWindow | undefined,
): ReplayWindow => {
  if (known) return known
  const window = new ReplayWindow()
  if (sources.size >= maxSources) sources.delete(sources.keys().next().value as number)
  sources.set(ssrc, window)
  return window
}
