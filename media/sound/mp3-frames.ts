/** Frame of MPEG audio. */
export interface MpegFrame {
  /** Frame including its header. */
  readonly data: Uint8Array
  /** Sampling rate in Hz. */
  readonly rate: number
  /** Samples per channel. */
  readonly samples: number
}

/** Content of a frame header (ISO 11172-3 section 2.4.1.3, ISO 13818-3). */
interface Header {
  /** Fields common to all headers of a stream: version, layer and rate. */
  readonly kind: number
  readonly length: number
  readonly rate: number
  readonly samples: number
}

/** Rates of version 1; versions 2 and 2.5 have half and a quarter. */
const rates = [44_100, 48_000, 32_000]
/** Bitrates in kbit/s, by index from 1 to 14. */
const bitrates = {
  v1: [
    [32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
    [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
    [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  ],
  v2: [
    [32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
    [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
    [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
  ],
}

/**
 * Iterates over the frames of MPEG audio (versions 1, 2 and 2.5, layers I to III) with the version, layer and
 * rate of the first. A frame only counts if it follows or precedes another. Tags and damaged parts are
 * skipped. Free-format frames (without a bitrate) are not supported.
 */
export function* mpegFrames(bytes: Uint8Array): Generator<MpegFrame> {
  let kind: number | undefined
  let follows = false
  for (let at = tagBytes(bytes); at >= 0 && at < bytes.length; ) {
    const header = headerAt(bytes, at)
    const isFrame: boolean =
      header !== undefined && fits(header, kind) && (follows || isFollowed(bytes, at, header))
    if (isFrame && header && at + header.length <= bytes.length) {
      kind ??= header.kind
      yield { data: bytes.subarray(at, at + header.length), rate: header.rate, samples: header.samples }
      at += header.length
    } else at = bytes.indexOf(0xff, at + 1)
    follows = isFrame
  }
}

const fits = (header: Header, kind: number | undefined): boolean => kind === undefined || header.kind === kind

/** Whether another frame, or the end of the file, follows. */
const isFollowed = (bytes: Uint8Array, at: number, header: Header): boolean =>
  at + header.length === bytes.length || headerAt(bytes, at + header.length)?.kind === header.kind

/** Returns the length of an ID3v2 tag at the start; 0 if absent. Each byte of its size has 7 bits. */
const tagBytes = (bytes: Uint8Array): number => {
  if (bytes.length < 10 || bytes[0] !== 0x49 || bytes[1] !== 0x44 || bytes[2] !== 0x33) return 0
  const size = bytes.subarray(6, 10).reduce((sum, byte) => (sum << 7) | (byte & 0x7f), 0)
  const hasFooter = (bytes[5]! & 0x10) !== 0
  return 10 + size + (hasFooter ? 10 : 0)
}

/** Parses a header; undefined if absent, with reserved values, or of free format. */
const headerAt = (bytes: Uint8Array, at: number): Header | undefined => {
  const first = bytes[at]
  const second = bytes[at + 1] ?? 0
  const third = bytes[at + 2] ?? 0
  if (first !== 0xff || second >> 5 !== 7) return undefined
  const version = (second >> 3) & 3
  const layer = 4 - ((second >> 1) & 3)
  const rate1 = rates[(third >> 2) & 3]
  const bitrate = bitrates[version === 3 ? 'v1' : 'v2'][layer - 1]?.[(third >> 4) - 1]
  if (version === 1 || rate1 === undefined || bitrate === undefined) return undefined
  const rate = rate1 / (version === 3 ? 1 : version === 2 ? 2 : 4)
  const samples = layer === 1 ? 384 : layer === 2 || version === 3 ? 1152 : 576
  // Layer I counts in slots of four bytes.
  const slot = layer === 1 ? 4 : 1
  const slots = Math.floor((samples * bitrate * 1000) / (8 * slot * rate)) + ((third >> 1) & 1)
  return { kind: (version << 4) | (layer << 2) | ((third >> 2) & 3), length: slots * slot, rate, samples }
}
