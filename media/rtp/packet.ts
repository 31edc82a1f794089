/** RTP packets (RFC 3550 section 5.1), read and written in place. */

/** Length of a header without contributing sources and extension. */
export const headerBytes = 12

/**
 * One parsed packet. A mutable view, so that the packet path allocates nothing: each {@link readRtp}
 * overwrites it.
 */
export interface RtpView {
  payloadType: number
  marker: boolean
  sequence: number
  timestamp: number
  ssrc: number
  /** Offset of the first payload byte. */
  start: number
  /** Offset behind the last payload byte; padding follows. */
  end: number
}

/** Returns a new view for {@link readRtp}. */
export function rtpView(): RtpView {
  return { payloadType: 0, marker: false, sequence: 0, timestamp: 0, ssrc: 0, start: 0, end: 0 }
}

/**
 * Whether a packet on a multiplexed port is RTCP (RFC 5761 section 4). Packet types 192 to 223 take the place
 * of RTP's marker and payload type.
 */
export function isRtcp(packet: Uint8Array): boolean {
  const second = packet[1]
  return second !== undefined && second >= 192 && second <= 223
}

/**
 * Parses `packet` into `view`. Returns false if malformed; the view is then undefined. An empty payload is
 * allowed.
 */
export function readRtp(packet: Buffer, view: RtpView): boolean {
  const length = packet.length
  if (length < headerBytes) return false
  const first = packet[0]!
  if (first >> 6 !== 2) return false
  let start = headerBytes + (first & 0x0f) * 4
  if (first & 0x10) {
    if (start + 4 > length) return false
    start += 4 + packet.readUInt16BE(start + 2) * 4
  }
  let end = length
  if (first & 0x20) {
    const padding = packet[length - 1]!
    if (padding === 0) return false
    end -= padding
  }
  if (start > end) return false
  const second = packet[1]!
  view.marker = second >= 0x80
  view.payloadType = second & 0x7f
  view.sequence = packet.readUInt16BE(2)
  view.timestamp = packet.readUInt32BE(4)
  view.ssrc = packet.readUInt32BE(8)
  view.start = start
  view.end = end
  return true
}

/** Fields of a header to write. */
export type RtpHeader = Pick<RtpView, 'payloadType' | 'marker' | 'sequence' | 'timestamp' | 'ssrc'>

/**
 * Writes a plain header of {@link headerBytes} at `at`: no extension, no contributing sources, no padding.
 */
export function writeRtpHeader(packet: Buffer, at: number, header: RtpHeader): void {
  packet[at] = 0x80
  packet[at + 1] = header.payloadType | (header.marker ? 0x80 : 0)
  packet.writeUInt16BE(header.sequence, at + 2)
  packet.writeUInt32BE(header.timestamp, at + 4)
  packet.writeUInt32BE(header.ssrc, at + 8)
}

/** Place of the timestamp in a packet. */
const timestampOffset = 4

/** Returns the timestamp of a packet. Throws a RangeError if it is shorter than a header. */
export function timestampOf(packet: Buffer): number {
  return packet.readUInt32BE(timestampOffset)
}

/** Sets the timestamp of a packet, 0 to 2^32 - 1. Throws a RangeError if it is shorter than a header. */
export function setTimestamp(packet: Buffer, timestamp: number): void {
  packet.writeUInt32BE(timestamp, timestampOffset)
}

/** Returns the difference of two sequence numbers, -32768 to 32767: positive if `a` is later than `b`. */
export function sequenceAhead(a: number, b: number): number {
  return ((a - b) << 16) >> 16
}

/** Returns the difference of two timestamps as a signed 32-bit number: positive if `a` is later than `b`. */
export function timestampAhead(a: number, b: number): number {
  return (a - b) | 0
}

const stunCookie = 0x2112a442

/**
 * Whether a packet is STUN (RFC 8489 section 5), distinguished from RTP and RTCP by its first byte (RFC 7983
 * section 7).
 */
export function isStun(packet: Buffer): boolean {
  return packet.length >= 20 && (packet[0] as number) < 4 && packet.readUInt32BE(4) === stunCookie
}
