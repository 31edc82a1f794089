import { decode, encode } from '../../media/codecs/g711.ts'
import type { SoundRate } from './sound-store.ts'

/** Encoding of raw audio: 16-bit samples in little-endian order, or G.711. */
export interface AudioFormat {
  readonly coding: 'pcm' | 'PCMU' | 'PCMA'
  readonly rate: SoundRate
}

/** Returns samples as bytes of a format. */
export const toBytes = (samples: Int16Array, { coding }: AudioFormat): Buffer =>
  coding === 'pcm' ? Buffer.from(Int16Array.from(samples).buffer) : Buffer.from(encode(coding, samples))

/** Returns the samples of bytes of a format. A last half sample is dropped. */
export const toSamples = (bytes: Uint8Array, { coding }: AudioFormat): Int16Array => {
  if (coding !== 'pcm') return decode(coding, bytes)
  const copy = Uint8Array.from(bytes.subarray(0, bytes.length & ~1))
  return new Int16Array(copy.buffer)
}

/** Returns the duration of bytes of a format, in ms. */
export const durationMs = (bytes: number, { coding, rate }: AudioFormat): number =>
  (bytes / (coding === 'pcm' ? 2 : 1) / rate) * 1000

/** Returns a WAV file of mono 16-bit samples. */
export const wavOf = (samples: Int16Array, rate: number): Buffer =>
  Buffer.concat([wavHeader(samples.length * 2, rate), toBytes(samples, { coding: 'pcm', rate: 8000 })])

/** Returns the header of a WAV file; `bytes` of all ones means an unknown length. */
export const wavHeader = (bytes: number, rate: number): Buffer => {
  const header = Buffer.alloc(44)
  header.write('RIFF', 0)
  header.writeUInt32LE(bytes === 0xffff_ffff ? bytes : bytes + 36, 4)
  header.write('WAVEfmt ', 8)
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(rate, 24)
  header.writeUInt32LE(rate * 2, 28)
  header.writeUInt16LE(2, 32)
  header.writeUInt16LE(16, 34)
  header.write('data', 36)
  header.writeUInt32LE(bytes, 40)
  return header
}
