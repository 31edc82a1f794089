/** VP8 in RTP (RFC 7741): the payload descriptor before each part of a frame. */

/** One parsed descriptor. */
export interface Vp8Descriptor {
  /** Whether the packet starts a frame. */
  readonly isStart: boolean
  /** Offset of the first byte of the frame's part. */
  readonly start: number
}

/** Parses the descriptor in `packet` at `start`; undefined if it is malformed or nothing follows it. */
export const readVp8Descriptor = (
  packet: Uint8Array,
  start: number,
  end: number,
): Vp8Descriptor | undefined => {
  if (start >= end) return undefined
  const first = packet[start]!
  let at = start + 1
  if (first & 0x80) {
    if (at >= end) return undefined
    const extension = packet[at++]!
    // A picture id has one byte, or two if its first bit is set.
    if (extension & 0x80) at += at < end && packet[at]! & 0x80 ? 2 : 1
    if (extension & 0x40) at++
    if (extension & 0x30) at++
  }
  return at < end ? { isStart: (first & 0x17) === 0x10, start: at } : undefined
}

/** Whether the bytes at the start of a frame are those of a key frame (RFC 6386 section 9.1). */
export const isKeyFrame = (frame: Uint8Array, start = 0): boolean => (frame[start]! & 1) === 0

/** Length of the descriptor that {@link writeVp8Descriptor} writes. */
export const descriptorBytes = 4

/** Writes a descriptor with a picture id of 15 bits at `at`. */
export const writeVp8Descriptor = (packet: Buffer, at: number, isStart: boolean, pictureId: number): void => {
  packet[at] = isStart ? 0x90 : 0x80
  packet[at + 1] = 0x80
  packet.writeUInt16BE(0x8000 | pictureId, at + 2)
}
