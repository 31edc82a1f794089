/** VP8 payload descriptors (RFC 7741 section 4.2), read and written in place. */

/**
 * Payload descriptor of one packet. A mutable view, so that the packet path allocates nothing: each {@link
 * readVp8} overwrites it.
 */
export interface Vp8View {
  /** First byte: X, N, S and PID. */
  first: number
  /** Picture id; undefined if absent. */
  pictureId: number | undefined
  /** Length of the picture id in bits, 7 or 15. */
  pictureIdBits: 7 | 15
  /** Index of the base layer's frame; undefined if absent. */
  tl0PicIdx: number | undefined
  /** Byte with TID, Y and KEYIDX; undefined if absent. */
  layers: number | undefined
  /** I, L, T and K of the extension byte; 0 without that byte. */
  fields: number
  /** Offset of the VP8 data behind the descriptor. */
  start: number
  /** Whether the packet is the first one of a frame. */
  isFrameStart: boolean
  /** Whether the packet is the first one of a key frame. */
  isKeyFrameStart: boolean
}

const hasExtension = 0x80
const hasPictureId = 0x80
const hasTl0PicIdx = 0x40
const hasLayers = 0x30
const isLongPictureId = 0x80

/** Returns a new view for {@link readVp8}. */
export const vp8View = (): Vp8View => ({
  first: 0,
  pictureId: undefined,
  pictureIdBits: 15,
  tl0PicIdx: undefined,
  layers: undefined,
  fields: 0,
  start: 0,
  isFrameStart: false,
  isKeyFrameStart: false,
})

/**
 * Parses the descriptor of the payload from `start` to `end` into `view`. Returns false if it is truncated or
 * no VP8 data follows; the view is then undefined.
 */
export const readVp8 = (packet: Buffer, start: number, end: number, view: Vp8View): boolean => {
  let at = start
  // A truncated descriptor moves the position behind the end, and no byte there is read.
  const next = (): number => {
    const position = at++
    return position < end ? packet[position]! : 0
  }
  const first = next()
  const fields = first & hasExtension ? next() & 0xf0 : 0
  view.first = first
  view.fields = fields
  view.pictureId = undefined
  if (fields & hasPictureId) {
    const byte = next()
    const isLong = (byte & isLongPictureId) !== 0
    view.pictureIdBits = isLong ? 15 : 7
    view.pictureId = isLong ? ((byte & 0x7f) << 8) | next() : byte
  }
  view.tl0PicIdx = fields & hasTl0PicIdx ? next() : undefined
  view.layers = fields & hasLayers ? next() : undefined
  if (at >= end) return false
  view.start = at
  // S set and PID 0; then the inverse key frame flag P of the VP8 header (section 4.3).
  view.isFrameStart = (first & 0x17) === 0x10
  view.isKeyFrameStart = view.isFrameStart && isKeyFrame(packet, at)
  return true
}

/** Whether the bytes at `start` begin a key frame (RFC 6386 section 9.1). */
export const isKeyFrame = (frame: Uint8Array, start = 0): boolean => (frame[start]! & 0x01) === 0

/** Returns the length in bytes of the view's descriptor if {@link writeVp8} writes it. */
export const vp8DescriptorBytes = ({ first, pictureId, tl0PicIdx, layers }: Vp8View): number =>
  1 +
  (first & hasExtension ? 1 : 0) +
  (pictureId === undefined ? 0 : 2) +
  (tl0PicIdx === undefined ? 0 : 1) +
  (layers === undefined ? 0 : 1)

/** Writes the view's descriptor at `at`, always with a picture id of 15 bits. */
export const writeVp8 = (packet: Buffer, at: number, view: Vp8View): void => {
  const { first, fields, pictureId, tl0PicIdx, layers } = view
  let position = at
  packet[position++] = first
  if (!(first & hasExtension)) return
  packet[position++] = fields
  if (pictureId !== undefined) {
    packet[position++] = isLongPictureId | (pictureId >> 8)
    packet[position++] = pictureId & 0xff
  }
  if (tl0PicIdx !== undefined) packet[position++] = tl0PicIdx
  if (layers !== undefined) packet[position] = layers
}

/** Returns the descriptor of a part of a frame, with a picture id; `isStart`: of the first part. */
export const framePart = (pictureId: number, isStart: boolean): Vp8View => ({
  ...vp8View(),
  first: hasExtension | (isStart ? 0x10 : 0),
  fields: hasPictureId,
  pictureId,
})
