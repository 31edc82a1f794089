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
