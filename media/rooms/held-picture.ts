import { readRtp, rtpView, setTimestamp, timestampAhead } from '../rtp/packet.ts'
import { readVp8, vp8View } from './vp8-descriptor.ts'

/** Maximum number of packets that are kept: a second of a camera of 1 Mbit/s has some 120. */
const maxPackets = 500
/**
 * Maximum length of what is kept, in bytes: half a second of a camera of 1.5 Mbit/s. A viewer receives it at
 * once; a longer burst takes longer than a new key frame.
 */
const maxBytes = 96_000
/** Time between two kept frames when they are given, in units of 90 kHz: a millisecond. */
const step = 90

/**
 * Packets of a VP8 stream from its latest key frame on. A stream that begins with them needs no key frame of
 * its own.
 */
export class HeldPicture {
  readonly #rtp = rtpView()
  readonly #vp8 = vp8View()
  #packets: { readonly timestamp: number; readonly packet: Buffer }[] = []
  #bytes = 0

  /** Whether a stream can begin at present. */
  get isReady(): boolean {
    return this.#packets.length > 0
  }

  /** Keeps a packet, which is lent. */
  receive(packet: Buffer): void {
    const rtp = this.#rtp
    if (!readRtp(packet, rtp)) return
    const hasPicture = readVp8(packet, rtp.start, rtp.end, this.#vp8)
    if (hasPicture && this.#vp8.isKeyFrameStart) this.#drop()
    else if (!this.isReady) return
    this.#bytes += packet.length
    // Too much for a viewer to receive and decode at once.
    if (this.#packets.length === maxPackets || this.#bytes > maxBytes) this.#drop()
    else this.#packets.push({ timestamp: rtp.timestamp, packet: Buffer.from(packet) })
  }

  /**
   * Returns copies of the packets, with new timestamps: their frames are 1 ms apart, so that a viewer shows
   * the latest one at once. The latest frame keeps its timestamp.
   */
  packets(): readonly Buffer[] {
    const order = [...new Set(this.#packets.map(({ timestamp }) => timestamp))].sort(timestampAhead)
    const latest = order.at(-1)
    if (latest === undefined) return []
    return this.#packets.map(({ timestamp, packet }) => {
      const copy = Buffer.from(packet)
      const behind = order.length - 1 - order.indexOf(timestamp)
      setTimestamp(copy, (latest - behind * step) >>> 0)
      return copy
    })
  }

  #drop(): void {
    this.#packets = []
    this.#bytes = 0
  }
}
