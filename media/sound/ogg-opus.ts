import CodecParser, { type OggPage } from 'codec-parser'
import { createDecoder, DecoderCtl, type OpusDecoderHandle } from 'libopus-wasm'
import type { PcmRate } from '../types.ts'
import { SoundError } from './errors.ts'
import { checkLength, type Wave, WaveParts } from './wave.ts'

/** Granule positions, pre-skip and trimming count samples at this rate, whatever the sound was made from (RFC 7845 section 4). */
const granuleRate = 48_000

/** What the identification header says (RFC 7845 section 5.1). */
interface OpusHead {
  /** Samples at 48 kHz to leave out at the start: the decoder has not converged in them. */
  readonly preSkip: number
  /** To be applied to the output, in dB as Q7.8. */
  readonly gain: number
}

/**
 * Decodes Ogg with Opus straight to `rate`; mono, or stereo, which is mixed down. Pre-skip, output gain and the trimmed end are obeyed
 * (RFC 7845). Rejects with a {@link SoundError} that says what was expected, or that it is longer than `maxSeconds`.
 */
export const readOggOpus = async (bytes: Uint8Array, rate: PcmRate, maxSeconds: number): Promise<Wave> => {
  const head = headOf(bytes)
  const decoder = await createDecoder({ channels: 1, sampleRate: rate })
  try {
    if (head.gain !== 0) decoder.decoderCtl(DecoderCtl.SetGain, head.gain)
    const { parts, end } = decodePages(bytes, decoder, rate, maxSeconds)
    const scale = rate / granuleRate
    const from = Math.round(head.preSkip * scale)
    const to = end === undefined ? parts.length : Math.min(parts.length, Math.round(end * scale))
    if (to <= from) throw fault('audio expected, found none')
    return { rate, samples: parts.slice(from, to) }
  } finally {
    decoder.free()
  }
}

const fault = (text: string): SoundError => new SoundError(`Ogg: ${text}`)

/** Other codecs by how their first packet begins. */
const others: Readonly<Record<string, string>> = {
  '\x01vorbis': 'Vorbis',
  '\x7fFLAC': 'FLAC',
  'Speex  ': 'Speex',
  '\x80theora': 'Theora video',
}

/** The identification header: alone on the first page (RFC 7845 section 3), behind 27 bytes and a table of segments. */
const headOf = (bytes: Uint8Array): OpusHead => {
  const at = 27 + (bytes[26] ?? 0)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const magic = Buffer.from(bytes.subarray(at, at + 8)).toString('latin1')
  if (magic !== 'OpusHead') {
    const other = Object.keys(others).find((start) => magic.startsWith(start))
    throw fault(`Opus expected, found ${other ? others[other] : 'something else'}`)
  }
  if (view.byteLength < at + 19) throw fault('an identification header of 19 bytes expected')
  // The upper half of the version is what would break us.
  if (bytes[at + 8]! > 15)
    throw fault(`version 1 of the identification header expected, found ${bytes[at + 8]}`)
  const channels = bytes[at + 9]!
  if (channels !== 1 && channels !== 2) throw fault(`1 or 2 channels expected, found ${channels}`)
  const family = bytes[at + 18]!
  if (family > 1) throw fault(`channel mapping family 0 or 1 expected, found ${family}`)
  return { preSkip: view.getUint16(at + 10, true), gain: view.getInt16(at + 16, true) }
}

/** Everything decoded, and where it ends in samples at 48 kHz, counted from the first; undefined where the file does not say. */
const decodePages = (
  bytes: Uint8Array,
  decoder: OpusDecoderHandle,
  rate: PcmRate,
  maxSeconds: number,
): { readonly parts: WaveParts; readonly end: number | undefined } => {
  const parts = new WaveParts()
  let stream: number | undefined
  let start: number | undefined
  for (const page of pagesOf(bytes)) {
    stream ??= page.streamSerialNumber
    if (page.streamSerialNumber !== stream) throw fault('one stream expected, found several')
    for (const { data } of page.codecFrames ?? []) {
      // Long tags go on to the pages of the audio, and the parser takes them for it.
      if (data.length === 0 || isTags(data)) continue
      parts.add(decodePacket(decoder, data))
      checkLength('Ogg', parts.length, rate, maxSeconds)
    }
    const granule = Number(page.absoluteGranulePosition)
    // A recording of a broadcast begins at any position: what counts is the distance from there.
    if (parts.length > 0) start ??= Math.max(0, granule - Math.round((parts.length * granuleRate) / rate))
    if (page.isLastPage && start !== undefined) return { parts, end: granule - start }
  }
  return { parts, end: undefined }
}

function* pagesOf(bytes: Uint8Array): Generator<OggPage> {
  const parser = new CodecParser<OggPage>('audio/ogg', { enableFrameCRC32: false })
  try {
    yield* parser.parseChunk(bytes) as unknown as Iterable<OggPage>
    yield* parser.flush() as unknown as Iterable<OggPage>
  } catch (error) {
    if (error instanceof SoundError) throw error
    throw new SoundError(`Ogg: the pages cannot be read: ${(error as Error).message}`, error)
  }
}

const isTags = (data: Uint8Array): boolean =>
  Buffer.from(data.subarray(0, 8)).toString('latin1') === 'OpusTags'

const decodePacket = (decoder: OpusDecoderHandle, packet: Uint8Array): Float32Array => {
  try {
    return decoder.decodeFloat(packet)
  } catch (error) {
    throw new SoundError(`Ogg: a packet is no Opus: ${(error as Error).message}`, error)
  }
}
