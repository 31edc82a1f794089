import { type Format, MOST_BYTES } from './format.ts'

/** Length of the header that is written here: a canonical one, the samples follow right after it. */
export const WAV_HEADER = 44
/** Size of a chunk that is not known yet; readers take everything up to the end. */
const UNKNOWN = 0xffff_ffff

/** Header of a WAV with 16 bit PCM; `length` is that of the whole file in bytes, absent while it is not known. */
export function wavHeader(rate: number, channels: 1 | 2, length?: number): Uint8Array {
  const header = Buffer.alloc(WAV_HEADER)
  header.write('RIFF', 0, 'latin1')
  header.writeUInt32LE(length === undefined ? UNKNOWN : length - 8, 4)
  header.write('WAVEfmt ', 8, 'latin1')
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(channels, 22)
  header.writeUInt32LE(rate, 24)
  header.writeUInt32LE(rate * channels * 2, 28)
  header.writeUInt16LE(channels * 2, 32)
  header.writeUInt16LE(16, 34)
  header.write('data', 36, 'latin1')
  header.writeUInt32LE(length === undefined ? UNKNOWN : length - WAV_HEADER, 40)
  return header
}

/** PCM of 16 bit in a WAV. */
export class WavFormat implements Format {
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
    return WAV_HEADER + frames * this.#bytes.length
  }

  playable(length: number): number {
    const block = this.#channels * 2
    const data = Math.floor((Math.min(length, MOST_BYTES) - WAV_HEADER) / block) * block
    return data > 0 ? WAV_HEADER + data : 0
  }

  durationMs(length: number): number {
    return Math.round(((length - WAV_HEADER) * 1000) / this.bytesPerSecond)
  }

  header(length: number): Uint8Array {
    return wavHeader(this.#rate, this.#channels, length)
  }

  close(): void {}
}
