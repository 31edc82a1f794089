import type { Encoder } from '../codecs/types.ts'
import type { PcmRate } from '../types.ts'
import { framesPerSecond } from './rate-adapter.ts'

/** Collects frames of 20 ms into packets of the requested duration, and encodes them. */
export class Packetizer {
  /** Duration of a packet, in units of the codec's clock. */
  readonly units: number
  #encoder: Encoder
  #buffer: Int16Array
  #fill = 0
  /** Samples held back until the next tick, so that two short packets are not sent at once. */
  #held: number

  /** `clockRate` of the codec, in Hz. */
  constructor(encoder: Encoder, clockRate: number) {
    this.#encoder = encoder
    const { frameSamples, sampleRate } = encoder
    this.units = (frameSamples * clockRate) / sampleRate
    const frame = sampleRate / framesPerSecond
    this.#held = frameSamples < frame ? frameSamples : 0
    // At worst, a frame arrives before the previous packets have left.
    this.#buffer = new Int16Array(frameSamples + 2 * frame)
  }

  /** Rate of the pushed frames. */
  get rate(): PcmRate {
    return this.#encoder.sampleRate
  }

  /** Maximum payload length. */
  get maxBytes(): number {
    return this.#encoder.maxBytes
  }

  /** Whether no samples wait. */
  get isEmpty(): boolean {
    return this.#fill === 0
  }

  /** Whether a whole packet waits. */
  get hasPacket(): boolean {
    return this.#fill >= this.#encoder.frameSamples
  }

  /** Whether a packet is due now, apart from the one held for the next tick. */
  get isDue(): boolean {
    return this.#fill >= this.#encoder.frameSamples + this.#held
  }

  /** Adds a frame of 20 ms. Undefined is silence, which completes a packet in progress. */
  push(frame: Int16Array | undefined): void {
    const { frameSamples } = this.#encoder
    if (frame) {
      this.#buffer.set(frame, this.#fill)
      this.#fill += frame.length
    } else {
      const end = Math.ceil(this.#fill / frameSamples) * frameSamples
      this.#buffer.fill(0, this.#fill, end)
      this.#fill = end
    }
  }

  /** Encodes the oldest packet into `out` at `at`. Returns the number of bytes; 0 if nothing must be sent. */
  take(out: Uint8Array, at: number): number {
    const { frameSamples } = this.#encoder
    const bytes = this.#encoder.encode(this.#buffer, 0, out, at)
    this.#buffer.copyWithin(0, frameSamples, this.#fill)
    this.#fill -= frameSamples
    return bytes
  }

  /** Drops waiting samples. */
  clear(): void {
    this.#fill = 0
  }

  close(): void {
    this.#encoder.close()
  }
}
