import { decode } from '../codecs/g711.ts'
import { SoundError } from './errors.ts'
import { checkLength, type Wave } from './wave.ts'

/** Reads one sample at byte `at`, as ±1. */
export type ReadSample = (view: DataView, at: number) => number

/** Layout of samples in a file: consecutive, two channels interleaved. */
export interface Layout {
  /** Sampling rate in Hz. */
  readonly rate: number
  readonly channels: number
  /** Bytes per sample. */
  readonly bytes: number
  readonly read: ReadSample
}

/** Returns the error for a file of that kind. */
export const faultOf = (kind: string, text: string): SoundError => new SoundError(`${kind}: ${text}`)

/** Throws a {@link SoundError} unless there are 1 or 2 channels at 8,000 to 48,000 samples per second. */
export const checkLayout = (kind: string, { channels, rate }: Pick<Layout, 'channels' | 'rate'>): void => {
  if (channels !== 1 && channels !== 2) throw faultOf(kind, `1 or 2 channels expected, found ${channels}`)
  if (!(rate >= 8000 && rate <= 48_000))
    throw faultOf(kind, `8000 to 48000 samples per second expected, found ${rate}`)
}

/**
 * Reads the samples, stereo mixed down. Throws a {@link SoundError} for incomplete frames, or more than
 * `maxSeconds`.
 */
export const readSamples = (kind: string, data: DataView, layout: Layout, maxSeconds: number): Wave => {
  const { channels, rate, read, bytes } = layout
  const frameBytes = bytes * channels
  if (data.byteLength % frameBytes !== 0)
    throw faultOf(kind, `the data chunk's ${data.byteLength} bytes are no multiple of ${frameBytes}`)
  const length = data.byteLength / frameBytes
  checkLength(kind, length, rate, maxSeconds)
  const samples = new Float32Array(length)
  for (let i = 0, at = 0; i < length; i++, at += frameBytes) {
    samples[i] = channels === 1 ? read(data, at) : (read(data, at) + read(data, at + bytes)) / 2
  }
  return { rate, samples }
}

const lawOf = (law: 'PCMU' | 'PCMA'): ReadSample => {
  const all = Uint8Array.from({ length: 256 }, (_, byte) => byte)
  const table = Float32Array.from(decode(law, all), (v) => v / 32_768)
  return (view, at) => table[view.getUint8(at)]!
}

/** G.711 µ-law. */
export const muLaw = lawOf('PCMU')
/** G.711 A-law. */
export const aLaw = lawOf('PCMA')

const finite = (value: number): number => (Number.isFinite(value) ? value : 0)

/** Returns a reader of signed PCM of 1 to 4 bytes, little-endian if `little`; undefined for other sizes. */
export const pcm = (bytes: number, little: boolean): ReadSample | undefined =>
  ({
    1: (view: DataView, at: number) => view.getInt8(at) / 128,
    2: (view: DataView, at: number) => view.getInt16(at, little) / 32_768,
    3: (view: DataView, at: number) =>
      (view.getInt8(at + (little ? 2 : 0)) * 65_536 + view.getUint16(at + (little ? 0 : 1), little)) /
      8_388_608,
    4: (view: DataView, at: number) => view.getInt32(at, little) / 2_147_483_648,
  })[bytes]

/**
 * Returns a reader of floats of 4 or 8 bytes, little-endian if `little`. Full scale is 1; non-finite values
 * are silence.
 */
export const float = (bytes: 4 | 8, little: boolean): ReadSample =>
  bytes === 4
    ? (view, at) => finite(view.getFloat32(at, little))
    : (view, at) => finite(view.getFloat64(at, little))
