import { maxFileBytes, type RecordingFormat } from './recording-format.ts'

/** Length of the header: canonical, directly followed by the samples. */
export const wavHeaderBytes = 44
/** Size of a chunk of unknown length; readers read up to the end of the file. */
const unknownSize = 0xffff_ffff

/** Returns the header of a WAV with 16-bit PCM; `length` of the whole file in bytes, absent while unknown. */
export function wavHeader(rate: number, channels: 1 | 2, length?: number): Uint8Array {
  const header = Buffer.alloc(wavHeaderBytes)
  header.write('RIFF', 0, 'latin1')
  header.writeUInt32LE(length === undefined ? unknownSize : length - 8, 4)
  header.write('WAVEfmt ', 8, 'latin1')
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(channels, 22)
  header.writeUInt32LE(rate, 24)
  header.writeUInt32LE(rate * channels * 2, 28)
  header.writeUInt16LE(channels * 2, 32)
  header.writeUInt16LE(16, 34)
  header.write('data', 36, 'latin1')
  header.writeUInt32LE(length === undefined ? unknownSize : length - wavHeaderBytes, 40)
  return header
}

/** WAV file with 16-bit PCM. */
export class WavFormat implements RecordingFormat {
  readonly bytesPerSecond: number
  #rate: number
  #channels: 1 | 2
  #bytes: Buffer

  constructor(rate: 8000 | 16_000, channels: 1 | 2) {
    this.#rate = rate
    this.#channels = channels
    this.bytesPerSecond = rate * channels * 2
    this.#bytes = Buffer.alloc(this.bytesPerSecond / 50)
  }

  begin(): Uint8Array {
    return wavHeader(this.#rate, this.#channels)
  }

  encode(left: Int16Array, right: Int16Array | undefined): Uint8Array {
    const bytes = this.#bytes
    const step = this.#channels * 2
    for (let i = 0; i < left.length; i++) {
      bytes.writeInt16LE(left[i]!, i * step)
      if (right) bytes.writeInt16LE(right[i]!, i * step + 2)
    }
    return bytes
  }

  finish(): Uint8Array {
    return this.#bytes.subarray(0, 0)
  }

  lengthOf(frames: number): number {
    return wavHeaderBytes + frames * this.#bytes.length
  }

  playable(length: number): number {
    const block = this.#channels * 2
    const data = Math.floor((Math.min(length, maxFileBytes) - wavHeaderBytes) / block) * block
    return data > 0 ? wavHeaderBytes + data : 0
  }

  durationMs(length: number): number {
    return Math.round(((length - wavHeaderBytes) * 1000) / this.bytesPerSecond)
  }

  header(length: number): Uint8Array {
    return wavHeader(this.#rate, this.#channels, length)
  }

  close(): void {}
}
