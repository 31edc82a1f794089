import { type WavLayout, wavHeader, wavHeaderBytes } from '../codecs/wav-header.ts'
import { maxFileBytes, type RecordingFormat } from './recording-format.ts'

/** WAV file with 16-bit PCM. */
export class WavFormat implements RecordingFormat {
  readonly bytesPerSecond: number
  readonly #layout: WavLayout
  readonly #channels: 1 | 2
  #bytes: Buffer

  constructor(rate: 8000 | 16_000, channels: 1 | 2) {
    this.#layout = { rate, channels }
    this.#channels = channels
    this.bytesPerSecond = rate * channels * 2
    this.#bytes = Buffer.alloc(this.bytesPerSecond / 50)
  }

  begin(): Uint8Array {
    return wavHeader(this.#layout)
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
    return wavHeader(this.#layout, length - wavHeaderBytes)
  }

  close(): void {}
}
