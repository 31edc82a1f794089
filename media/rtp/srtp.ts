import { createHmac, timingSafeEqual } from 'node:crypto'
import { HEADER_BYTES } from './packet.ts'
import { applyCipher, deriveKeys, type SessionKeys, type SrtpSuite } from './srtp-keys.ts'

/** Bytes of the tag on RTP; on RTCP it is always the longer one (RFC 4568 section 6.2.2). */
const tagBytes: Readonly<Record<SrtpSuite, number>> = {
  AES_CM_128_HMAC_SHA1_80: 10,
  AES_CM_128_HMAC_SHA1_32: 4,
}
const RTCP_TAG_BYTES = 10
/** Packets behind the newest one that are still taken, each once (RFC 3711 section 3.3.2 wants at least 64). */
const WINDOW = 128
/** Sources whose numbering is remembered. Only an authentic packet adds one. */
const MOST_SOURCES = 8
const RTCP_INDEX_LIMIT = 2 ** 31

/** Where the payload begins; undefined for what is too short to be RTP. */
const payloadStart = (packet: Buffer, end: number): number | undefined => {
  if (end < HEADER_BYTES) return undefined
  const first = packet[0]!
  let start = HEADER_BYTES + (first & 0x0f) * 4
  if (first & 0x10) {
    if (start + 4 > end) return undefined
    start += 4 + packet.readUInt16BE(start + 2) * 4
  }
  return start <= end ? start : undefined
}

const rtpTag = (keys: SessionKeys, authenticated: Buffer, roc: number, bytes: number): Buffer => {
  const counter = Buffer.alloc(4)
  counter.writeUInt32BE(roc)
  return createHmac('sha1', keys.auth).update(authenticated).update(counter).digest().subarray(0, bytes)
}

const rtcpTag = (keys: SessionKeys, authenticated: Buffer): Buffer =>
  createHmac('sha1', keys.auth).update(authenticated).digest().subarray(0, RTCP_TAG_BYTES)

/** The 48-bit index of an RTP packet: roll-over counter and sequence number. */
const rtpIndex = (roc: number, sequence: number) => ({
  high: roc >>> 16,
  low: (((roc & 0xffff) << 16) | sequence) >>> 0,
})

/** Encrypts what one port sends (RFC 3711). All its RTP packets have one SSRC. */
export class SrtpSender {
  #tag: number
  #rtp: SessionKeys
  #rtcp: SessionKeys
  /** Roll-over counter and sequence number of the newest packet; -1 before the first. */
  #newest = -1
  #rtcpIndex = 0

  /** `before`: the sender whose master key this one's takes the place of; the roll-over counter goes on. */
  constructor(suite: SrtpSuite, master: Uint8Array, before?: SrtpSender) {
    this.#tag = tagBytes[suite]
    this.#rtp = deriveKeys(master, 'rtp')
    this.#rtcp = deriveKeys(master, 'rtcp')
    if (before) this.#newest = before.#newest
  }

  /** The packet as it goes over the wire; `packet` itself is changed. */
  protect(packet: Buffer): Buffer {
    const sequence = packet.readUInt16BE(2)
    // A forwarded stream keeps its disorder, so that a packet may be of the time before the roll-over.
    const roc = this.#newest < 0 ? 0 : guess(this.#newest, sequence)
    this.#newest = Math.max(this.#newest, roc * 0x10000 + sequence)
    const start = payloadStart(packet, packet.length) ?? packet.length
    const range = { from: start, to: packet.length }
    applyCipher(this.#rtp, packet, range, packet.readUInt32BE(8), rtpIndex(roc, sequence))
    return Buffer.concat([packet, rtpTag(this.#rtp, packet, roc, this.#tag)])
  }

  /** The same for an RTCP compound (RFC 3711 section 3.4). */
  protectRtcp(packet: Buffer): Buffer {
    this.#rtcpIndex = (this.#rtcpIndex + 1) % RTCP_INDEX_LIMIT
    const out = Buffer.alloc(packet.length + 4)
    packet.copy(out)
    const index = { high: 0, low: this.#rtcpIndex }
    applyCipher(this.#rtcp, out, { from: 8, to: packet.length }, packet.readUInt32BE(4), index)
    // The first bit says that it is encrypted.
    out.writeUInt32BE((0x80000000 | this.#rtcpIndex) >>> 0, packet.length)
    return Buffer.concat([out, rtcpTag(this.#rtcp, out)])
  }
}

/** Which numbers of one source were seen: its newest one, and a window of those before. */
class ReplayWindow {
  #newest = -1
  #seen = new Set<number>()

  /** The newest number; -1 before the first. */
  get newest(): number {
    return this.#newest
  }

  /** Whether the number is new, and not too old to know. */
  permits(number: number): boolean {
    return number > this.#newest - WINDOW && !this.#seen.has(number)
  }

  take(number: number): void {
    this.#seen.add(number)
    if (number <= this.#newest) return
    // Only numbers that have just left the window are taken out, so that a packet costs the same however long the call.
    const from = Math.max(this.#newest - WINDOW, -1) + 1
    const to = Math.min(number - WINDOW, this.#newest)
    for (let old = from; old <= to; old++) this.#seen.delete(old)
    this.#newest = number
  }
}

/** Checks and decrypts what one port receives (RFC 3711). A packet that fails changes nothing. */
export class SrtpReceiver {
  #tag: number
  #rtp: SessionKeys
  #rtcp: SessionKeys
  #sources = new Map<number, ReplayWindow>()
  #rtcpSources = new Map<number, ReplayWindow>()
  /** Roll-over counters under the key before: the far side may go on with them, or start anew. */
  #before: ReadonlyMap<number, ReplayWindow> | undefined

  /** `before`: the receiver whose master key this one's takes the place of. */
  constructor(suite: SrtpSuite, master: Uint8Array, before?: SrtpReceiver) {
    this.#tag = tagBytes[suite]
    this.#rtp = deriveKeys(master, 'rtp')
    this.#rtcp = deriveKeys(master, 'rtcp')
    if (before) this.#before = before.#sources
  }

  /** The plain packet, decrypted in place; undefined where it is not authentic, repeated or too old. */
  unprotect(packet: Buffer): Buffer | undefined {
    const end = packet.length - this.#tag
    const start = payloadStart(packet, end)
    if (start === undefined) return undefined
    const ssrc = packet.readUInt32BE(8)
    const sequence = packet.readUInt16BE(2)
    const window = this.#sources.get(ssrc)
    for (const roc of this.#counters(ssrc, sequence, window)) {
      const number = roc * 0x10000 + sequence
      if (window && !window.permits(number)) continue
      const body = packet.subarray(0, end)
      if (!timingSafeEqual(rtpTag(this.#rtp, body, roc, this.#tag), packet.subarray(end))) continue
      applyCipher(this.#rtp, packet, { from: start, to: end }, ssrc, rtpIndex(roc, sequence))
      remember(this.#sources, ssrc, window).take(number)
      return body
    }
    return undefined
  }

  /** The same for an RTCP compound; one that is not encrypted (RFC 3711 section 3.4 allows it) is refused. */
  unprotectRtcp(packet: Buffer): Buffer | undefined {
    const end = packet.length - RTCP_TAG_BYTES
    if (end < 12) return undefined
    const authenticated = packet.subarray(0, end)
    if (!timingSafeEqual(rtcpTag(this.#rtcp, authenticated), packet.subarray(end))) return undefined
    const word = packet.readUInt32BE(end - 4)
    if (word < 0x80000000) return undefined
    const index = word - 0x80000000
    const ssrc = packet.readUInt32BE(4)
    const window = this.#rtcpSources.get(ssrc)
    if (window && !window.permits(index)) return undefined
    applyCipher(this.#rtcp, packet, { from: 8, to: end - 4 }, ssrc, { high: 0, low: index })
    remember(this.#rtcpSources, ssrc, window).take(index)
    return packet.subarray(0, end - 4)
  }

  /** The roll-over counters that a packet may have, likeliest first (RFC 3711 section 3.3.1). */
  #counters(ssrc: number, sequence: number, window: ReplayWindow | undefined): readonly number[] {
    if (window) return [guess(window.newest, sequence)]
    const before = this.#before?.get(ssrc)
    return before ? [...new Set([guess(before.newest, sequence), 0])] : [0]
  }
}

/** The counter with which the packet is nearest to the newest one. */
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
  if (sources.size >= MOST_SOURCES) sources.delete(sources.keys().next().value as number)
  sources.set(ssrc, window)
  return window
}
