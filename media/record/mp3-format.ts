import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { createEncoder, type WasmMediaEncoder } from 'wasm-media-encoders'
import { maxFileBytes, type RecordingFormat } from './recording-format.ts'

type Encoder = WasmMediaEncoder<'audio/mpeg'>

/**
 * Bits per second of each channel, by rate. Constant, so that a duration corresponds to a length in bytes;
 * high enough to avoid hissing voices.
 */
const bitrates = { 8000: 24_000, 16000: 32_000 } as const
/** Samples of one frame at these rates (MPEG-2 and 2.5, layer III). */
const frameSamples = 576
/** Delay from encoder input to decoder output, in samples: 576 of LAME and 529 of the decoder. */
const delaySamples = 1105
/** Number of 20 ms frames per encoder call: calls into WebAssembly are expensive. */
const batchFrames = 5
/** Maximum number of idle encoders kept for reuse; each has its own memory. */
const maxIdleEncoders = 8

let compiled: Promise<WebAssembly.Module> | undefined
const idle: Encoder[] = []

// Compiled once per thread; after a failure the next recording retries.
const compile = (): Promise<WebAssembly.Module> => {
  compiled ??= readFile(createRequire(import.meta.url).resolve('wasm-media-encoders/wasm/mp3'))
    .then((bytes) => WebAssembly.compile(bytes))
    .catch((error: unknown) => {
      compiled = undefined
      throw error
    })
  return compiled
}

/** MP3 of constant bitrate: 24 kbit/s per channel at 8 kHz, 32 at 16 kHz. */
export class Mp3Format implements RecordingFormat {
  readonly bytesPerSecond: number
  #rate: 8000 | 16_000
  #encoder: Encoder | undefined
  /** Bytes of a frame, constant at these rates and bitrates. */
  #frameBytes: number
  /** Samples to encode next, by channel, and their number. */
  #batch: Float32Array[]
  #filled = 0

  private constructor(rate: 8000 | 16_000, channels: 1 | 2, encoder: Encoder) {
    const bitrate = bitrates[rate] * channels
    this.#rate = rate
    this.bytesPerSecond = bitrate / 8
    this.#frameBytes = (frameSamples * bitrate) / 8 / rate
    this.#batch = Array.from({ length: channels }, () => new Float32Array((rate / 50) * batchFrames))
    this.#encoder = encoder
    const kilobits = (bitrate / 1000) as 24 | 32 | 48 | 64
    encoder.configure({ sampleRate: rate, channels, bitrate: kilobits, outputSampleRate: rate })
  }

  /** Creates a format with an idle or new encoder. Rejects if the encoder cannot be loaded. */
  static async create(rate: 8000 | 16_000, channels: 1 | 2): Promise<Mp3Format> {
    return new Mp3Format(rate, channels, idle.pop() ?? (await createEncoder('audio/mpeg', await compile())))
  }

  begin(): Uint8Array {
    return noBytes
  }

  encode(left: Int16Array, right: Int16Array | undefined): Uint8Array {
    this.#fill(0, left)
    if (right) this.#fill(1, right)
    this.#filled += left.length
    if (this.#filled < this.#batch[0]!.length) return noBytes
    this.#filled = 0
    const encoder = this.#encoder!
    // A failed encoder must not be reused.
    this.#encoder = undefined
    const bytes = encoder.encode(this.#batch)
    this.#encoder = encoder
    return bytes
  }

  finish(): Uint8Array {
    const encoder = this.#encoder!
    const rest = Buffer.concat([this.#last(encoder), encoder.finalize()])
    this.close()
    return rest
  }

  lengthOf(frames: number): number {
    const samples = (frames * this.#rate) / 50 + delaySamples
    return Math.ceil(samples / frameSamples) * this.#frameBytes
  }

  playable(length: number): number {
    return Math.floor(Math.min(length, maxFileBytes) / this.#frameBytes) * this.#frameBytes
  }

  durationMs(length: number): number {
    return Math.round(((length / this.#frameBytes) * frameSamples * 1000) / this.#rate)
  }

  header(): Uint8Array {
    return noBytes
  }

  close(): void {
    if (this.#encoder && idle.length < maxIdleEncoders) idle.push(this.#encoder)
    this.#encoder = undefined
  }

  #last(encoder: Encoder): Uint8Array {
    if (this.#filled === 0) return noBytes
    // The result is copied, because its buffer belongs to the encoder and is overwritten by the next call.
    return encoder.encode(this.#batch.map((channel) => channel.subarray(0, this.#filled))).slice()
  }

  #fill(channel: number, samples: Int16Array): void {
    const batch = this.#batch[channel]!
    for (let i = 0; i < samples.length; i++) batch[this.#filled + i] = samples[i]! / 32_768
  }
}

const noBytes = new Uint8Array(0)
