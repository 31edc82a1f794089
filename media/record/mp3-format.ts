import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { createEncoder, type WasmMediaEncoder } from 'wasm-media-encoders'
import { type Format, MOST_BYTES } from './format.ts'

type Encoder = WasmMediaEncoder<'audio/mpeg'>

/** Bits per second by rate, of each channel. Constant, so that a length in time is one in bytes; above what makes voices hiss. */
const BITRATES = { 8000: 24_000, 16000: 32_000 } as const
/** Samples of one frame at these rates (MPEG-2 and 2.5, layer III). */
const FRAME_SAMPLES = 576
/** How much later sound comes out of a decoder than it went into the encoder, in samples: LAME's 576, and 529 of the decoder. */
const DELAY_SAMPLES = 1105
/** Frames of 20 ms that are encoded at once: calls into WebAssembly are dear. */
const BATCH = 5
/** Encoders that are kept for the next recording; each has its own memory. */
const MOST_IDLE = 8

let compiled: Promise<WebAssembly.Module> | undefined
const idle: Encoder[] = []

// Once per thread; the next recording tries again after a failure.
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
export class Mp3Format implements Format {
  readonly bytesPerSecond: number
  #rate: 8000 | 16_000
  #encoder: Encoder | undefined
  /** Bytes of a frame; at these rates and bitrates all are alike. */
  #frameBytes: number
  /** What is encoded next, by channel, and how much of it is there. */
  #batch: Float32Array[]
  #filled = 0

  private constructor(rate: 8000 | 16_000, channels: 1 | 2, encoder: Encoder) {
    const bitrate = BITRATES[rate] * channels
    this.#rate = rate
    this.bytesPerSecond = bitrate / 8
    this.#frameBytes = (FRAME_SAMPLES * bitrate) / 8 / rate
    this.#batch = Array.from({ length: channels }, () => new Float32Array((rate / 50) * BATCH))
    this.#encoder = encoder
    const kilobits = (bitrate / 1000) as 24 | 32 | 48 | 64
    encoder.configure({ sampleRate: rate, channels, bitrate: kilobits, outputSampleRate: rate })
  }

  /** Takes an encoder, or makes one. Rejects when it cannot be loaded. */
  static async create(rate: 8000 | 16_000, channels: 1 | 2): Promise<Mp3Format> {
    return new Mp3Format(rate, channels, idle.pop() ?? (await createEncoder('audio/mpeg', await compile())))
  }

  begin(): Uint8Array {
    return NOTHING
  }

  encode(left: Int16Array, right: Int16Array | undefined): Uint8Array {
    this.#fill(0, left)
    if (right) this.#fill(1, right)
    this.#filled += left.length
    if (this.#filled < this.#batch[0]!.length) return NOTHING
    this.#filled = 0
    const encoder = this.#encoder!
    // One that failed is not used again.
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
    const samples = (frames * this.#rate) / 50 + DELAY_SAMPLES
    return Math.ceil(samples / FRAME_SAMPLES) * this.#frameBytes
  }

  playable(length: number): number {
    return Math.floor(Math.min(length, MOST_BYTES) / this.#frameBytes) * this.#frameBytes
  }

  durationMs(length: number): number {
    return Math.round(((length / this.#frameBytes) * FRAME_SAMPLES * 1000) / this.#rate)
  }

  header(): Uint8Array {
    return NOTHING
  }

  close(): void {
    if (this.#encoder && idle.length < MOST_IDLE) idle.push(this.#encoder)
    this.#encoder = undefined
  }

  #last(encoder: Encoder): Uint8Array {
    if (this.#filled === 0) return NOTHING
    // The encoder's own, and gone with the next call.
    return encoder.encode(this.#batch.map((channel) => channel.subarray(0, this.#filled))).slice()
  }

  #fill(channel: number, samples: Int16Array): void {
    const batch = this.#batch[channel]!
    for (let i = 0; i < samples.length; i++) batch[this.#filled + i] = samples[i]! / 32_768
  }
}

const NOTHING = new Uint8Array(0)
