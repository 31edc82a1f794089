import { framePart, vp8DescriptorBytes, writeVp8 } from '../rooms/vp8-descriptor.ts'
import { headerBytes, writeRtpHeader } from '../rtp/packet.ts'
import { buildRtcp } from '../rtp/rtcp.ts'

/** Maximum length of a packet in bytes; leaves room for SRTP and header extensions in 1280 bytes of IPv6. */
const maxPacketBytes = 1200
const descriptorBytes = vp8DescriptorBytes(framePart(0, true))
const overhead = headerBytes + descriptorBytes

/** Frequency of RTP timestamps of video, in units per ms. */
export const unitsPerMs = 90

/** Identity and start values of a stream. */
export interface Vp8StreamOptions {
  readonly ssrc: number
  readonly payloadType: number
  readonly cname: string
  /** Start values (RFC 3550 section 5.1), usually random. */
  readonly sequence: number
  readonly timestamp: number
  readonly pictureId: number
}

/** The RTP stream of one rendition: splits VP8 frames into packets, and writes sender reports. */
export class Vp8Packetizer {
  readonly #options: Vp8StreamOptions
  #sequence: number
  #pictureId: number
  #packets = 0
  #octets = 0

  constructor(options: Vp8StreamOptions) {
    this.#options = options
    this.#sequence = options.sequence & 0xffff
    this.#pictureId = options.pictureId & 0x7fff
  }

  /** Returns the packets of a frame, of nearly equal length. `units`: time of the frame since the start. */
  packetize(frame: Uint8Array, units: number): Buffer[] {
    const count = Math.ceil(frame.length / (maxPacketBytes - overhead))
    const share = Math.ceil(frame.length / count)
    const all = Buffer.allocUnsafe(frame.length + count * overhead)
    const packets = Array.from({ length: count }, (_, part) => {
      const from = part * share
      const to = Math.min(frame.length, from + share)
      const at = from + part * overhead
      this.#writeHead(all, at, units, part === 0, part === count - 1)
      all.set(frame.subarray(from, to), at + overhead)
      return all.subarray(at, at + overhead + to - from)
    })
    this.#packets += count
    this.#octets += frame.length + count * descriptorBytes
    this.#pictureId = (this.#pictureId + 1) & 0x7fff
    return packets
  }

  /** Returns a sender report with the canonical name. `units` belongs to the same moment as `now`. */
  report(now: number, units: number): Buffer {
    const { ssrc, cname } = this.#options
    const info = {
      at: now,
      timestamp: this.#timestampAt(units),
      packets: this.#packets,
      octets: this.#octets,
    }
    return buildRtcp([
      { kind: 'sender', ssrc, info, blocks: [] },
      { kind: 'description', ssrc, cname },
    ])
  }

  #writeHead(packet: Buffer, at: number, units: number, isFirst: boolean, isLast: boolean): void {
    writeRtpHeader(packet, at, {
      payloadType: this.#options.payloadType,
      marker: isLast,
      sequence: this.#sequence,
      timestamp: this.#timestampAt(units),
      ssrc: this.#options.ssrc,
    })
    writeVp8(packet, at + headerBytes, framePart(this.#pictureId, isFirst))
    this.#sequence = (this.#sequence + 1) & 0xffff
  }

  #timestampAt(units: number): number {
    return (this.#options.timestamp + units) % 0x1_0000_0000
  }
}
