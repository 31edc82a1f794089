import { SoundError } from './errors.ts'

/** A page of Ogg (RFC 3533 section 6), and the packets that end on it. */
export interface OggPage {
  /** Number of the stream that it belongs to. */
  readonly serial: number
  /** Position at its end, in what the codec counts; undefined where no packet ends on it. */
  readonly granule: number | undefined
  /** The stream ends with it. */
  readonly isLast: boolean
  readonly packets: readonly Uint8Array[]
}

const headerBytes = 27
const capture = Buffer.from('OggS')

/**
 * The pages of one stream after the other. What is damaged (by its checksum) or cut off is passed over, with the packets that reach into
 * it. Throws a {@link SoundError} for several streams side by side, and where passing over would take more than a second look at
 * everything: the work is proportional to the length, however a file was made.
 */
export function* oggPages(bytes: Uint8Array): Generator<OggPage> {
  const packets = new Packets()
  let serial: number | undefined
  let wasted = 0
  for (let at = nextCapture(bytes, 0); at >= 0; ) {
    const page = pageAt(bytes, at)
    if (!page?.isSound) {
      wasted += page?.bytes ?? 0
      if (wasted > bytes.length) throw fault('it is too damaged to be read')
      at = nextCapture(bytes, at + 1)
      continue
    }
    serial ??= page.serial
    if (page.serial !== serial) throw fault('one stream expected, found several')
    const { isLast, granule } = page
    yield {
      serial,
      granule: granule === -1n ? undefined : Number(granule),
      isLast,
      packets: packets.of(page),
    }
    if (isLast) serial = undefined
    at = nextCapture(bytes, at + page.bytes)
  }
}

const fault = (text: string): SoundError => new SoundError(`Ogg: ${text}`)

const nextCapture = (bytes: Uint8Array, from: number): number =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).indexOf(capture, from)

interface RawPage {
  readonly isSound: boolean
  readonly bytes: number
  readonly isContinued: boolean
  readonly isLast: boolean
  readonly granule: bigint
  readonly serial: number
  readonly sequence: number
  /** Lengths of the segments. */
  readonly lacing: Uint8Array
  readonly body: Uint8Array
}

/** Undefined where not all of it is there, or it is of another version. */
const pageAt = (bytes: Uint8Array, at: number): RawPage | undefined => {
  if (at + headerBytes > bytes.length || bytes[at + 4] !== 0) return undefined
  const view = new DataView(bytes.buffer, bytes.byteOffset + at)
  const lacing = bytes.subarray(at + headerBytes, at + headerBytes + view.getUint8(26))
  const start = at + headerBytes + view.getUint8(26)
  const end = start + lacing.reduce((sum, length) => sum + length, 0)
  if (end > bytes.length) return undefined
  const flags = view.getUint8(5)
  return {
    isSound: checksum(bytes, at, end) === view.getUint32(22, true),
    bytes: end - at,
    isContinued: (flags & 1) !== 0,
    isLast: (flags & 4) !== 0,
    granule: view.getBigInt64(6, true),
    serial: view.getUint32(14, true),
    sequence: view.getUint32(18, true),
    lacing,
    body: bytes.subarray(start, end),
  }
}

/** Puts packets together that go over several pages. */
class Packets {
  /** The packet that goes on to the next page. */
  #pieces: Uint8Array[] = []
  #next: number | undefined

  /** Those that end on this page; the one that is continued without its beginning is left out. */
  of({ lacing, body, isContinued, sequence }: RawPage): Uint8Array[] {
    let isWhole = !isContinued || (sequence === this.#next && this.#pieces.length > 0)
    if (!isContinued || !isWhole) this.#pieces = []
    this.#next = (sequence + 1) >>> 0
    const packets: Uint8Array[] = []
    let start = 0
    let end = 0
    for (const length of lacing) {
      end += length
      // A packet ends with the first segment that is not full.
      if (length === 255) continue
      if (isWhole) packets.push(this.#whole(body.subarray(start, end)))
      isWhole = true
      start = end
    }
    if (isWhole && lacing.at(-1) === 255) this.#pieces.push(body.subarray(start, end))
    return packets
  }

  #whole(last: Uint8Array): Uint8Array {
    if (this.#pieces.length === 0) return last
    const packet = Buffer.concat([...this.#pieces, last])
    this.#pieces = []
    return packet
  }
}

/** CRC-32 with the polynomial 04c11db7, not reflected, from zero, byte by byte. */
const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 24
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000_0000 ? (crc << 1) ^ 0x04c1_1db7 : crc << 1
  return crc
})

/** Of a page, whose own field for it counts as zeros. */
const checksum = (bytes: Uint8Array, at: number, end: number): number => {
  let crc = 0
  for (let i = at; i < end; i++) {
    const byte = i >= at + 22 && i < at + 26 ? 0 : bytes[i]!
    crc = (crc << 8) ^ table[(crc >>> 24) ^ byte]!
  }
  return crc >>> 0
}
