import { SoundError } from './errors.ts'

/** Ogg page (RFC 3533 section 6) with the packets that end on it. */
export interface OggPage {
  /** Serial number of the stream. */
  readonly serial: number
  /** Granule position at the end of the page; undefined if no packet ends on it. */
  readonly granule: number | undefined
  /** Whether the stream ends with this page. */
  readonly isLast: boolean
  readonly packets: readonly Uint8Array[]
}

const headerBytes = 27
const capture = Buffer.from('OggS')

/**
 * Iterates over the pages, one stream after another. Skips pages that are damaged (by checksum) or truncated,
 * and the packets on them. Throws a {@link SoundError} for interleaved streams, and if skipping would read
 * more than the file's length again. The work is thus proportional to the length, even for malicious files.
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

/** Parses a page; undefined if incomplete or of another version. */
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

/** Reassembles packets that span several pages. */
class Packets {
  /** Pieces of a packet that continues on the next page. */
  #pieces: Uint8Array[] = []
  #next: number | undefined

  /** Returns the packets that end on this page, without one whose start is missing. */
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

/** Returns the checksum of a page; its own checksum field counts as zeros. */
const checksum = (bytes: Uint8Array, at: number, end: number): number => {
  let crc = 0
  for (let i = at; i < end; i++) {
    const byte = i >= at + 22 && i < at + 26 ? 0 : bytes[i]!
    crc = (crc << 8) ^ table[(crc >>> 24) ^ byte]!
  }
  return crc >>> 0
}
