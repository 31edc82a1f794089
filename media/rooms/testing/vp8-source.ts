import { headerBytes, writeRtpHeader } from '../../rtp/packet.ts'

/** Numbers at which a {@link Vp8Source} starts, and the fields of its payload descriptors. */
export interface Vp8SourceOptions {
  readonly ssrc?: number
  readonly payloadType?: number
  readonly sequence?: number
  readonly timestamp?: number
  /** Length of picture ids in bits; 0: none. */
  readonly pictureIdBits?: 0 | 7 | 15
  readonly pictureId?: number
  /** Whether packets have TL0PICIDX and TID, with two temporal layers. */
  readonly hasLayers?: boolean
  readonly tl0PicIdx?: number
}

/** A frame to send. */
export interface Frame {
  readonly isKey?: boolean
  /** Number of packets; default 1. */
  readonly packets?: number
  /** Advance of the timestamp; default that of 30 frames per second. */
  readonly advance?: number
  /** Whether the frame belongs to the base layer; default true. */
  readonly isBase?: boolean
  /** Text in each packet, by which a reader recognizes the frame. */
  readonly text?: string
}

/** Source of synthetic VP8 packets: their descriptors are real, their data is a text. */
export class Vp8Source {
  readonly #options: Required<Vp8SourceOptions>
  sequence: number
  timestamp: number
  pictureId: number
  tl0PicIdx: number

  constructor(options: Vp8SourceOptions = {}) {
    this.#options = {
      ssrc: 1,
      payloadType: 96,
      sequence: 0,
      timestamp: 0,
      pictureIdBits: 15,
      pictureId: 0,
      hasLayers: false,
      tl0PicIdx: 0,
      ...options,
    }
    const { sequence, timestamp, pictureId, tl0PicIdx } = this.#options
    this.sequence = sequence
    this.timestamp = timestamp
    this.pictureId = pictureId
    this.tl0PicIdx = tl0PicIdx
  }

  /** Returns the packets of the next frame. */
  frame({ isKey = false, packets = 1, advance = 3000, isBase = true, text = '' }: Frame = {}): Buffer[] {
    this.timestamp = (this.timestamp + advance) >>> 0
    this.pictureId = (this.pictureId + 1) & (this.#options.pictureIdBits === 7 ? 0x7f : 0x7fff)
    if (isBase) this.tl0PicIdx = (this.tl0PicIdx + 1) & 0xff
    return Array.from({ length: packets }, (_, index) => {
      const data = Buffer.from(`${isKey ? 'P' : 'Q'}${text}/${index}`)
      return this.#packet(this.#descriptor(index === 0, isBase), data, index === packets - 1)
    })
  }

  /** Returns a packet without payload, as browsers send for probing. */
  padding(): Buffer {
    const packet = this.#packet([], Buffer.alloc(8, 8), false)
    packet[0] = 0xa0
    return packet
  }

  // 'P' has the lowest bit 0, as the first byte of a key frame; 'Q' has 1.
  #descriptor(isStart: boolean, isBase: boolean): number[] {
    const { pictureIdBits, hasLayers } = this.#options
    const { pictureId, tl0PicIdx } = this
    const hasFields = pictureIdBits > 0 || hasLayers
    return [
      (hasFields ? 0x80 : 0) | (isStart ? 0x10 : 0),
      ...(hasFields ? [(pictureIdBits > 0 ? 0x80 : 0) | (hasLayers ? 0x60 : 0)] : []),
      ...(pictureIdBits === 15 ? [0x80 | (pictureId >> 8), pictureId & 0xff] : []),
      ...(pictureIdBits === 7 ? [pictureId] : []),
      ...(hasLayers ? [tl0PicIdx, isBase ? 0x20 : 0x40] : []),
    ]
  }

  #packet(descriptor: number[], data: Buffer, marker: boolean): Buffer {
    const packet = Buffer.concat([Buffer.alloc(headerBytes), Buffer.from(descriptor), data])
    const { ssrc, payloadType } = this.#options
    writeRtpHeader(packet, 0, {
      ssrc,
      payloadType,
      sequence: this.sequence,
      timestamp: this.timestamp,
      marker,
    })
    this.sequence = (this.sequence + 1) & 0xffff
    return packet
  }
}
