/** Audio files for tests, generated at run time. */
import { createEncoder } from 'libopus-wasm'
import { createMp3Encoder } from 'wasm-media-encoders'
import { wavHeader } from '../../codecs/wav-header.ts'

/** Returns a sine as mono floats; `amplitude` of 1, default 0.5. */
export const floatSine = (frequency: number, seconds: number, rate: number, amplitude = 0.5): Float32Array =>
  Float32Array.from(
    { length: Math.round(seconds * rate) },
    (_, i) => amplitude * Math.sin((2 * Math.PI * frequency * i) / rate),
  )

/** Returns a WAV of 16-bit PCM, mono. */
export const wavFile = (samples: Float32Array, rate: number): Uint8Array => {
  const data = Buffer.from(Int16Array.from(samples, (v) => Math.round(v * 32_767)).buffer)
  return Buffer.concat([wavHeader({ rate }, data.length), data])
}

/** Returns an AIFF of 16-bit PCM, mono. */
export const aiffFile = (samples: Float32Array, rate: number): Uint8Array => {
  const head = Buffer.alloc(54)
  head.write('FORM', 0)
  head.writeUInt32BE(46 + samples.length * 2, 4)
  head.write('AIFFCOMM', 8)
  head.writeUInt32BE(18, 16)
  head.writeUInt16BE(1, 20)
  head.writeUInt32BE(samples.length, 22)
  head.writeUInt16BE(16, 26)
  extendedRate(rate).copy(head, 28)
  head.write('SSND', 38)
  head.writeUInt32BE(8 + samples.length * 2, 42)
  const data = Buffer.from(Int16Array.from(samples, (v) => Math.round(v * 32_767)).buffer).swap16()
  return Buffer.concat([head, data])
}

/** Returns a rate in AIFF's format: 80 bits (IEEE 754, extended). */
export const extendedRate = (rate: number): Buffer => {
  const bytes = Buffer.alloc(10)
  const exponent = Math.floor(Math.log2(rate))
  bytes.writeUInt16BE(16_383 + exponent, 0)
  bytes.writeBigUInt64BE(BigInt(Math.round(rate * 2 ** 20)) << BigInt(43 - exponent), 2)
  return bytes
}

/** Returns an MP3 of the channels. */
export const mp3File = async (channels: readonly Float32Array[], rate: 8000 | 16_000 | 44_100 | 48_000) => {
  const encoder = await createMp3Encoder()
  encoder.configure({
    channels: channels.length as 1 | 2,
    sampleRate: rate,
    bitrate: 64,
    outputSampleRate: rate,
  })
  const body = Buffer.from(encoder.encode(channels).slice())
  return Buffer.concat([body, encoder.finalize()])
}

/** Deviations of {@link oggOpusFile} from a plain file. */
export interface OggOptions {
  /** Default 312, as the encoder has it. */
  readonly preSkip?: number
  /** Output gain in dB as Q7.8; default 0. */
  readonly gain?: number
  /** Granule position of the end; default that of the last sample. */
  readonly end?: number
  /** Length of the tags in bytes; default few. */
  readonly tags?: number
  /** Offset of all granule positions; default 0. */
  readonly offset?: number
  /** Modifies the identification header. */
  readonly head?: (header: Buffer) => void
  readonly channels?: 1 | 2
}

/**
 * Returns Ogg with Opus from samples at 48 kHz (interleaved for two channels), in packets of 20 ms and pages
 * of ten packets.
 */
export const oggOpusFile = async (samples: Float32Array, options: OggOptions = {}): Promise<Buffer> => {
  const { preSkip = 312, gain = 0, channels = 1, offset = 0 } = options
  const encoder = await createEncoder({ channels, sampleRate: 48_000, bitrate: 64_000 })
  const frame = 960 * channels
  const count = Math.ceil((samples.length + preSkip * channels) / frame)
  const padded = new Float32Array(count * frame)
  padded.set(samples)
  const packets = Array.from({ length: count }, (_, i) =>
    Buffer.from(encoder.encodeFloat(padded.subarray(i * frame, (i + 1) * frame), { frameSize: 960 })),
  )
  encoder.free()
  const head = Buffer.from(`OpusHead\x01${String.fromCharCode(channels)}\0\0\0\0\0\0\0\0\0`, 'latin1')
  head.writeUInt16LE(preSkip, 10)
  head.writeUInt32LE(48_000, 12)
  head.writeInt16LE(gain, 16)
  options.head?.(head)
  const tags = Buffer.concat([Buffer.from('OpusTags'), Buffer.alloc(options.tags ?? 8)])
  const pages = new OggWriter()
  pages.packets([head], 0)
  pages.packets([tags], 0)
  for (let at = 0; at < packets.length; at += 10) {
    const last = at + 10 >= packets.length
    const end = last ? (options.end ?? samples.length / channels + preSkip) : (at + 10) * 960
    pages.packets(packets.slice(at, at + 10), offset + end, last)
  }
  return Buffer.concat(pages.all)
}

/** Writes the pages of one stream (RFC 3533 section 6). */
export class OggWriter {
  readonly all: Buffer[] = []
  readonly #serial: number

  constructor(serial = 7) {
    this.#serial = serial
  }

  /** Writes packets on a page of their own, continued on further pages if necessary. */
  packets(packets: readonly Buffer[], granule: number, last = false): void {
    const lacing = packets.flatMap((packet) => [
      ...Array.from({ length: Math.floor(packet.length / 255) }, () => 255),
      packet.length % 255,
    ])
    const data = Buffer.concat(packets)
    for (let segment = 0, at = 0; segment < lacing.length; segment += 255) {
      const table = lacing.slice(segment, segment + 255)
      const size = table.reduce((sum, length) => sum + length, 0)
      const ends = segment + 255 >= lacing.length
      const continued = segment > 0 ? 1 : 0
      const flags = continued | (this.all.length === 0 ? 2 : 0) | (last && ends ? 4 : 0)
      this.#page(flags, ends ? granule : -1, table, data.subarray(at, at + size))
      at += size
    }
  }

  #page(flags: number, granule: number, table: readonly number[], data: Buffer): void {
    const header = Buffer.alloc(27 + table.length)
    header.write('OggS', 0)
    header[5] = flags
    header.writeBigInt64LE(BigInt(granule), 6)
    header.writeUInt32LE(this.#serial, 14)
    header.writeUInt32LE(this.all.length, 18)
    header[26] = table.length
    header.set(table, 27)
    const page = Buffer.concat([header, data])
    page.writeUInt32LE(checksum(page), 22)
    this.all.push(page)
  }
}

/** Returns Ogg's CRC-32: polynomial 04c11db7, not reflected, from zero. */
const checksum = (bytes: Uint8Array): number => {
  let crc = 0
  for (const byte of bytes) {
    crc ^= byte << 24
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000_0000 ? (crc << 1) ^ 0x04c1_1db7 : crc << 1
  }
  return crc >>> 0
}
