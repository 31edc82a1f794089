import { readRtp, rtpView, timestampAhead } from '../rtp/packet.ts'
import { readVp8, vp8View } from './vp8-descriptor.ts'

/** Maximum number of packets that are kept: a second of a camera of 1 Mbit/s has some 120. */
const maxPackets = 500
/** Time between two kept frames when they are given, in units of 90 kHz: a millisecond. */
const step = 90
/** Place of the timestamp in an RTP packet (RFC 3550 section 5.1). */
const timestampOffset = 4

/**
 * Packets of a VP8 stream from its latest key frame on. A stream that begins with them needs no key frame of
 * its own.
 */
export class HeldPicture {
  readonly #rtp = rtpView()
  readonly #vp8 = vp8View()
  #packets: { readonly timestamp: number; readonly packet: Buffer }[] = []

  /** Whether a stream can begin at present. */
  get isReady(): boolean {
    return this.#packets.length > 0
  }

  /** Keeps a packet, which is lent. */
  receive(packet: Buffer): void {
    const rtp = this.#rtp
    if (!readRtp(packet, rtp)) return
    const hasPicture = readVp8(packet, rtp.start, rtp.end, this.#vp8)
    if (hasPicture && this.#vp8.isKeyFrameStart) this.#packets = []
    else if (!this.isReady) return
    // The decoder would have to make up for too much.
    if (this.#packets.length === maxPackets) this.#packets = []
    else this.#packets.push({ timestamp: rtp.timestamp, packet: Buffer.from(packet) })
  }

  /**
   * Returns the packets as of frames that followed each other within milliseconds: a viewer then shows the
   * latest one at once. The latest frame keeps its timestamp.
   */
  packets(): readonly Buffer[] {
    const order = [...new Set(this.#packets.map(({ timestamp }) => timestamp))].sort(timestampAhead)
    const latest = order.at(-1)
    if (latest === undefined) return []
    return this.#packets.map(({ timestamp, packet }) => {
      const copy = Buffer.from(packet)
      const behind = order.length - 1 - order.indexOf(timestamp)
      copy.writeUInt32BE((latest - behind * step) >>> 0, timestampOffset)
      return copy
    })
  }
}
