/** Elements of EBML (RFC 8794), the syntax of WebM. */

/** Size of an element that lasts until the end of the file, in eight bytes (RFC 8794 section 6.2). */
export const unknownSize: Buffer = Buffer.from('01ffffffffffffff', 'hex')

/** Ids of the elements of WebM that are written or read here (RFC 9559 section 5.1). */
export const Id = {
  ebml: 0x1a45dfa3,
  ebmlVersion: 0x4286,
  ebmlReadVersion: 0x42f7,
  ebmlMaxIdLength: 0x42f2,
  ebmlMaxSizeLength: 0x42f3,
  docType: 0x4282,
  docTypeVersion: 0x4287,
  docTypeReadVersion: 0x4285,
  void: 0xec,
  segment: 0x18538067,
  seekHead: 0x114d9b74,
  seek: 0x4dbb,
  seekId: 0x53ab,
  seekPosition: 0x53ac,
  info: 0x1549a966,
  timestampScale: 0x2ad7b1,
  duration: 0x4489,
  muxingApp: 0x4d80,
  writingApp: 0x5741,
  tracks: 0x1654ae6b,
  trackEntry: 0xae,
  trackNumber: 0xd7,
  trackUid: 0x73c5,
  trackType: 0x83,
  flagLacing: 0x9c,
  codecId: 0x86,
  codecPrivate: 0x63a2,
  codecDelay: 0x56aa,
  seekPreRoll: 0x56bb,
  video: 0xe0,
  pixelWidth: 0xb0,
  pixelHeight: 0xba,
  audio: 0xe1,
  samplingFrequency: 0xb5,
  channels: 0x9f,
  cluster: 0x1f43b675,
  timestamp: 0xe7,
  simpleBlock: 0xa3,
  cues: 0x1c53bb6b,
  cuePoint: 0xbb,
  cueTime: 0xb3,
  cueTrackPositions: 0xb7,
  cueTrack: 0xf7,
  cueClusterPosition: 0xf1,
} as const

/** Returns an id as its bytes: they contain their own length. */
export const idBytes = (id: number): Buffer => bigEndian(id)

/** Returns a size in the given number of bytes, 1 to 8; default the fewest. */
export const sizeBytes = (size: number, length = sizeLength(size)): Buffer => {
  const bytes = Buffer.alloc(length)
  for (let i = length - 1, rest = size; i >= 0; i--, rest = Math.floor(rest / 256)) bytes[i] = rest % 256
  bytes[0]! |= 0x80 >> (length - 1)
  return bytes
}

/** Returns an element with its content. */
export const element = (id: number, ...content: readonly Uint8Array[]): Buffer => {
  const length = content.reduce((sum, part) => sum + part.length, 0)
  return Buffer.concat([idBytes(id), sizeBytes(length), ...content])
}

/** Returns an element with an unsigned integer, in the given number of bytes; default the fewest. */
export const uint = (id: number, value: number, length?: number): Buffer => {
  const bytes = bigEndian(value)
  const missing = Buffer.alloc(Math.max(0, (length ?? 0) - bytes.length))
  return element(id, missing, bytes)
}

/** Returns an element with a floating-point number of eight bytes. */
export const float = (id: number, value: number): Buffer => {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleBE(value)
  return element(id, bytes)
}

/** Returns an element with a text of ASCII characters. */
export const text = (id: number, value: string): Buffer => element(id, Buffer.from(value, 'latin1'))

/** Returns an element that readers skip, of `length` bytes in all; at least 9. */
export const padding = (length: number): Buffer =>
  Buffer.concat([idBytes(Id.void), sizeBytes(length - 9, 8), Buffer.alloc(length - 9)])

/** Head of an element: its id, and the offsets of its content. */
export interface ElementHead {
  readonly id: number
  /** Offset of the content. */
  readonly start: number
  /** Offset behind the content; infinite if the size is unknown. */
  readonly end: number
}

/** Parses the head of the element at `at`; undefined if the bytes do not suffice, or are no element. */
export const readHead = (bytes: Uint8Array, at: number): ElementHead | undefined => {
  const idLength = lengthOf(bytes[at], 4)
  if (idLength === undefined || at + idLength > bytes.length) return undefined
  const id = unsigned(bytes, at, at + idLength)
  const sizeAt = at + idLength
  const length = lengthOf(bytes[sizeAt], 8)
  if (length === undefined || sizeAt + length > bytes.length) return undefined
  const start = sizeAt + length
  const marker = 0x80 >> (length - 1)
  const first = bytes[sizeAt]! ^ marker
  const isUnknown = first === marker - 1 && bytes.subarray(sizeAt + 1, start).every((byte) => byte === 0xff)
  const size = first * 256 ** (length - 1) + unsigned(bytes, sizeAt + 1, start)
  return { id, start, end: isUnknown ? Number.POSITIVE_INFINITY : start + size }
}

/** Returns the unsigned integer in the bytes from `start` to `end`. */
export const unsigned = (bytes: Uint8Array, start: number, end: number): number => {
  let value = 0
  for (let i = start; i < end; i++) value = value * 256 + bytes[i]!
  return value
}

/** Returns the length of an id or a size from its first byte; undefined if it is longer than `max`. */
const lengthOf = (first: number | undefined, max: number): number | undefined => {
  if (first === undefined) return undefined
  const length = Math.clz32(first) - 23
  return length <= max ? length : undefined
}

const sizeLength = (size: number): number => {
  let length = 1
  // All ones mean an unknown size.
  while (size >= 2 ** (7 * length) - 1) length++
  return length
}

const bigEndian = (value: number): Buffer => {
  const bytes: number[] = []
  for (let rest = value; rest > 0 || bytes.length === 0; rest = Math.floor(rest / 256))
    bytes.unshift(rest % 256)
  return Buffer.from(bytes)
}
