/** First bytes of a WebM file, of one length in any state, so that they can be replaced in place. */
import {
  element,
  float,
  Id,
  idBytes,
  padding,
  readHead,
  sizeBytes,
  text,
  uint,
  unknownSize,
  unsigned,
} from './ebml.ts'

/** Numbers of the tracks in blocks and cues. */
export const TrackNumber = { audio: 1, video: 2 } as const

/** Length of the header in bytes; the first cluster follows. */
export const webmHeaderBytes = 512

/** Samples at 48 kHz that a decoder of Opus drops at the start: the look-ahead of libopus. */
const opusPreSkip = 312

/** Facts of a WebM file. */
export interface WebmFacts {
  /** Channels of the Opus track; absent: none. */
  readonly audio?: 1 | 2
  /** Size of the first picture of the VP8 track; absent: none. */
  readonly video?: { readonly width: number; readonly height: number }
  /** Set when the file is complete. */
  readonly end?: WebmEnd
}

/** Facts of a complete WebM file. */
export interface WebmEnd {
  readonly durationMs: number
  /** Length of the file in bytes. */
  readonly bytes: number
  /** Offset of the cues in the file; absent: none. */
  readonly cuesAt?: number
}

const ebmlHeader = element(
  Id.ebml,
  uint(Id.ebmlVersion, 1),
  uint(Id.ebmlReadVersion, 1),
  uint(Id.ebmlMaxIdLength, 4),
  uint(Id.ebmlMaxSizeLength, 8),
  text(Id.docType, 'webm'),
  uint(Id.docTypeVersion, 4),
  uint(Id.docTypeReadVersion, 2),
)

/** Offset of the segment's content, from which its positions count. */
export const segmentStart = ebmlHeader.length + idBytes(Id.segment).length + unknownSize.length

/** Returns the header of a file. Without `end`, its size and its duration are unknown. */
export const webmHeader = ({ audio, video, end }: WebmFacts): Buffer => {
  const size = end ? sizeBytes(end.bytes - segmentStart, 8) : unknownSize
  const content = [
    ...(end?.cuesAt === undefined ? [] : [seekHead(end.cuesAt)]),
    element(
      Id.info,
      uint(Id.timestampScale, 1_000_000),
      ...(end ? [float(Id.duration, end.durationMs)] : []),
      text(Id.muxingApp, 'Trunkline'),
      text(Id.writingApp, 'Trunkline'),
    ),
    element(
      Id.tracks,
      ...(audio === undefined ? [] : [audioTrack(audio)]),
      ...(video === undefined ? [] : [videoTrack(video)]),
    ),
  ]
  const used = segmentStart + content.reduce((sum, part) => sum + part.length, 0)
  return Buffer.concat([ebmlHeader, idBytes(Id.segment), size, ...content, padding(webmHeaderBytes - used)])
}

const seekHead = (cuesAt: number): Buffer =>
  element(
    Id.seekHead,
    element(Id.seek, element(Id.seekId, idBytes(Id.cues)), uint(Id.seekPosition, cuesAt - segmentStart, 8)),
  )

/** See RFC 9559 section 5.1.4 and, for Opus, the mapping of Matroska (RFC 7845 section 5.1 for the head). */
const audioTrack = (channels: 1 | 2): Buffer => {
  const head = Buffer.alloc(19)
  head.write('OpusHead', 0, 'latin1')
  head[8] = 1
  head[9] = channels
  head.writeUInt16LE(opusPreSkip, 10)
  head.writeUInt32LE(48_000, 12)
  return element(
    Id.trackEntry,
    ...trackBasis(TrackNumber.audio, 2, 'A_OPUS'),
    element(Id.codecPrivate, head),
    uint(Id.codecDelay, (opusPreSkip * 1e9) / 48_000),
    uint(Id.seekPreRoll, 80_000_000),
    element(Id.audio, float(Id.samplingFrequency, 48_000), uint(Id.channels, channels)),
  )
}

const videoTrack = ({ width, height }: { readonly width: number; readonly height: number }): Buffer =>
  element(
    Id.trackEntry,
    ...trackBasis(TrackNumber.video, 1, 'V_VP8'),
    element(Id.video, uint(Id.pixelWidth, width), uint(Id.pixelHeight, height)),
  )

const trackBasis = (number: number, type: number, codec: string): readonly Buffer[] => [
  uint(Id.trackNumber, number),
  uint(Id.trackUid, number),
  uint(Id.trackType, type),
  uint(Id.flagLacing, 0),
  text(Id.codecId, codec),
]

/** Facts that a header contains. The duration is that of a complete file. */
export interface ReadWebmHeader {
  audio?: 1 | 2
  video?: { readonly width: number; readonly height: number }
  durationMs?: number
}

/** Returns the facts of a header; undefined if the bytes are not the header of a file of this writer. */
export const readWebmHeader = (bytes: Buffer): ReadWebmHeader | undefined => {
  if (bytes.length < webmHeaderBytes || !bytes.subarray(0, ebmlHeader.length).equals(ebmlHeader))
    return undefined
  const found: ReadWebmHeader = {}
  const sizes: number[] = []
  const walk = (from: number, to: number): void => {
    for (let at = from; at < to; ) {
      const head = readHead(bytes, at)
      if (!head || head.end > to) return
      if (parents.has(head.id)) walk(head.start, head.end)
      if (head.id === Id.duration) found.durationMs = bytes.readDoubleBE(head.start)
      if (head.id === Id.channels) found.audio = bytes[head.start] === 2 ? 2 : 1
      if (head.id === Id.pixelWidth || head.id === Id.pixelHeight)
        sizes.push(unsigned(bytes, head.start, head.end))
      at = head.end
    }
  }
  walk(segmentStart, webmHeaderBytes)
  const [width, height] = sizes
  if (width !== undefined && height !== undefined) found.video = { width, height }
  return found
}

/** Elements whose content is read. */
const parents: ReadonlySet<number> = new Set([Id.info, Id.tracks, Id.trackEntry, Id.audio, Id.video])
