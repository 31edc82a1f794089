import { readRtp, rtpView, sequenceAhead, timestampAhead } from '../../rtp/packet.ts'

/** A packet of VP8 as a receiver reads it. */
export interface Vp8Packet {
  readonly ssrc: number
  readonly payloadType: number
  readonly sequence: number
  readonly timestamp: number
  readonly marker: boolean
  readonly pictureId: number | undefined
  readonly tl0PicIdx: number | undefined
  /** Byte with TID, Y and KEYIDX. */
  readonly layers: number | undefined
  readonly data: Buffer
  readonly isKeyFrameStart: boolean
}

/** Returns the number in the payload descriptor's next bytes. */
const taker = (packet: Buffer, start: number) => {
  let at = start
  const take = (bytes: number): number => {
    at += bytes
    return packet.readUIntBE(at - bytes, bytes)
  }
  return { take, rest: () => packet.subarray(at) }
}

/**
 * Reads a packet by RFC 7741, independent of the product's parser. Picture ids must have 15 bits. Throws if
 * the packet is malformed, or has padding, an extension or contributing sources.
 */
export const readVp8Packet = (packet: Buffer): Vp8Packet => {
  const view = rtpView()
  if (packet[0] !== 0x80 || !readRtp(packet, view)) throw new Error('a plain RTP packet expected')
  const { ssrc, payloadType, sequence, timestamp, marker } = view
  const head = { ssrc, payloadType, sequence, timestamp, marker }
  const none = { pictureId: undefined, tl0PicIdx: undefined, layers: undefined }
  if (view.start === view.end) return { ...head, ...none, data: Buffer.alloc(0), isKeyFrameStart: false }
  const { take, rest } = taker(packet, view.start)
  const first = take(1)
  const fields = first & 0x80 ? take(1) : 0
  const longId = fields & 0x80 ? take(2) : undefined
  if (longId !== undefined && longId < 0x8000) throw new Error('a picture id of 15 bits expected')
  const pictureId = longId === undefined ? undefined : longId & 0x7fff
  const tl0PicIdx = fields & 0x40 ? take(1) : undefined
  const layers = fields & 0x30 ? take(1) : undefined
  const data = rest()
  const isKeyFrameStart = (first & 0x17) === 0x10 && data.length > 0 && (data[0]! & 1) === 0
  return { ...head, pictureId, tl0PicIdx, layers, data, isKeyFrameStart }
}

/** Packet with its sequence number and timestamp without wraps. */
export interface PlacedPacket extends Vp8Packet {
  readonly at: number
}

/** Receiver of one stream. Throws if the SSRC changes or a sequence number repeats. */
export class Vp8Reader {
  readonly #packets = new Map<number, PlacedPacket>()
  #newest: PlacedPacket | undefined

  /** Adds a packet, in the order of arrival. */
  add(packet: Buffer): PlacedPacket {
    const found = readVp8Packet(packet)
    const near = this.#newest ?? { ...found, at: found.sequence }
    if (found.ssrc !== near.ssrc) throw new Error('the SSRC changed')
    const at = near.at + sequenceAhead(found.sequence, near.sequence)
    if (this.#packets.has(at)) throw new Error(`sequence number ${at} repeats`)
    const timestamp = near.timestamp + timestampAhead(found.timestamp, near.timestamp)
    const placed = { ...found, at, timestamp }
    this.#packets.set(at, placed)
    if (at >= near.at) this.#newest = placed
    return placed
  }

  /** Packets in the order of their sequence numbers. */
  get inOrder(): PlacedPacket[] {
    return [...this.#packets.values()].sort((a, b) => a.at - b.at)
  }

  /** Throws if timestamps or picture ids of {@link inOrder} decrease, or do not increase together. */
  check(): void {
    const packets = this.inOrder
    for (const [index, packet] of packets.entries()) {
      const before = packets[index - 1]
      if (before) checkOrder(before, packet)
    }
  }
}

const checkOrder = (before: PlacedPacket, packet: PlacedPacket): void => {
  const where = `packet ${packet.at} after ${before.at}`
  const advance = packet.timestamp - before.timestamp
  if (advance < 0) throw new Error(`the timestamp of ${where} decreases`)
  if (packet.pictureId === undefined || before.pictureId === undefined) return
  const pictures = ((packet.pictureId - before.pictureId) << 17) >> 17
  if (Math.sign(pictures) !== Math.sign(advance))
    throw new Error(`the picture id of ${where} is ${pictures} ahead`)
}
