import type { G711 } from './g711.ts'

/** Format of the samples of a WAV file: PCM of 16 bit in little-endian order, or G.711. */
export interface WavLayout {
  /** Default `pcm`. */
  readonly coding?: 'pcm' | G711
  /** Sample rate in Hz. */
  readonly rate: number
  /** Default 1. */
  readonly channels?: 1 | 2
}

/** Length of the header: canonical, directly followed by the samples. */
export const wavHeaderBytes = 44
/** Size of a chunk of unknown length; readers read up to the end of the file. */
const unknownSize = 0xffff_ffff

/** Numbers of the codings, and the bytes of their samples. */
const codings = { pcm: [1, 2], PCMA: [6, 1], PCMU: [7, 1] } as const

/** Returns the header of a WAV file. `dataBytes`: length of the samples in bytes, absent while unknown. */
export const wavHeader = (
  { coding = 'pcm', rate, channels = 1 }: WavLayout,
  dataBytes?: number,
): Buffer<ArrayBuffer> => {
  const [tag, sampleBytes] = codings[coding]
  const header = Buffer.alloc(wavHeaderBytes)
  header.write('RIFF', 0, 'latin1')
  header.writeUInt32LE(dataBytes === undefined ? unknownSize : wavHeaderBytes - 8 + dataBytes, 4)
  header.write('WAVEfmt ', 8, 'latin1')
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(tag, 20)
  header.writeUInt16LE(channels, 22)
  header.writeUInt32LE(rate, 24)
  header.writeUInt32LE(rate * channels * sampleBytes, 28)
  header.writeUInt16LE(channels * sampleBytes, 32)
  header.writeUInt16LE(8 * sampleBytes, 34)
  header.write('data', 36, 'latin1')
  header.writeUInt32LE(dataBytes ?? unknownSize, 40)
  return header
}
