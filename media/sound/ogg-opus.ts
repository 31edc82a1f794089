import { createDecoder, DecoderCtl, type OpusDecoderHandle } from 'libopus-wasm'
import type { PcmRate } from '../types.ts'
import { SoundError } from './errors.ts'
import { oggPages } from './ogg.ts'
import { checkLength, type Wave, WaveBuilder } from './wave.ts'

/** Rate of granule positions, pre-skip and trimming, independent of the input (RFC 7845 section 4). */
const granuleRate = 48_000

/** Content of the identification header (RFC 7845 section 5.1). */
interface OpusHead {
  /** Samples at 48 kHz to skip at the start, before the decoder converges. */
  readonly preSkip: number
  /** Output gain, in dB as Q7.8. */
  readonly gain: number
}

/**
 * Decodes Ogg with Opus directly to `rate`. Mono, or stereo, which is mixed down. Applies pre-skip, output
 * gain and end trimming (RFC 7845). Rejects with a descriptive {@link SoundError}, also if the audio is
 * longer than `maxSeconds`.
 */
export const readOggOpus = async (bytes: Uint8Array, rate: PcmRate, maxSeconds: number): Promise<Wave> => {
  const head = headOf(oggPages(bytes).next().value?.packets[0])
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

/** Other codecs, by the start of their first packet. */
const others: Readonly<Record<string, string>> = {
  '\x01vorbis': 'Vorbis',
  '\x7fFLAC': 'FLAC',
  'Speex  ': 'Speex',
  '\x80theora': 'Theora video',
}

/** Parses the identification header, which is the first packet. */
const headOf = (packet: Uint8Array | undefined): OpusHead => {
  if (!packet) throw fault('a whole page expected, found none')
  const magic = textAt(packet)
  if (magic !== 'OpusHead') {
    const other = Object.keys(others).find((start) => magic.startsWith(start))
    throw fault(`Opus expected, found ${other ? others[other] : 'something else'}`)
  }
  if (packet.length < 19) throw fault('an identification header of 19 bytes expected')
  const view = new DataView(packet.buffer, packet.byteOffset, packet.byteLength)
  const version = view.getUint8(8)
  // Only the upper half of the version marks incompatible changes.
  if (version > 15) throw fault(`version 1 of the identification header expected, found ${version}`)
  const channels = view.getUint8(9)
  if (channels !== 1 && channels !== 2) throw fault(`1 or 2 channels expected, found ${channels}`)
  const family = view.getUint8(18)
  if (family > 1) throw fault(`channel mapping family 0 or 1 expected, found ${family}`)
  return { preSkip: view.getUint16(10, true), gain: view.getInt16(16, true) }
}

/** Returns the first eight bytes, which identify header packets. */
const textAt = (packet: Uint8Array): string => Buffer.from(packet.subarray(0, 8)).toString('latin1')

/**
 * Decodes all pages. `end` is the end in samples at 48 kHz, relative to the first; undefined if the file does
 * not specify it.
 */
const decodePages = (
  bytes: Uint8Array,
  decoder: OpusDecoderHandle,
  rate: PcmRate,
  maxSeconds: number,
): { readonly parts: WaveBuilder; readonly end: number | undefined } => {
  const parts = new WaveBuilder()
  let start: number | undefined
  for (const { packets, granule, isLast } of oggPages(bytes)) {
    for (const packet of packets) {
      if (packet.length === 0 || isHeader(packet)) continue
      parts.add(decodePacket(decoder, packet))
      checkLength('Ogg', parts.length, rate, maxSeconds)
    }
    if (parts.length === 0 || granule === undefined) continue
    // A recorded broadcast may start at any granule position, so positions are relative to the first one.
    start ??= Math.max(0, granule - Math.round((parts.length * granuleRate) / rate))
    if (isLast) return { parts, end: granule - start }
  }
  return { parts, end: undefined }
}

const isHeader = (packet: Uint8Array): boolean => ['OpusHead', 'OpusTags'].includes(textAt(packet))

const decodePacket = (decoder: OpusDecoderHandle, packet: Uint8Array): Float32Array => {
  try {
    return decoder.decodeFloat(packet)
  } catch (error) {
    throw new SoundError(`Ogg: a packet is no Opus: ${(error as Error).message}`, error)
  }
}
