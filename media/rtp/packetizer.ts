import type { Encoder } from '../codecs/types.ts'
import type { PcmRate } from '../types.ts'
import { FRAMES } from './rate.ts'

/** Collects frames of 20 ms into packets of the length that the far end asked for, and encodes them. */
export class Packetizer {
  /** What a packet covers, in units of the codec's clock. */
  readonly units: number
  #encoder: Encoder
  #buffer: Int16Array
  #fill = 0
  /** Samples that are held back until the next tick, so that two short packets do not leave at once. */
  #held: number

  /** `clockRate` is of the codec, in Hz. */
  constructor(encoder: Encoder, clockRate: number) {
    this.#encoder = encoder
    const { frameSamples, sampleRate } = encoder
    this.units = (frameSamples * clockRate) / sampleRate
    const frame = sampleRate / FRAMES
    this.#held = frameSamples < frame ? frameSamples : 0
    // A frame comes before the packets that were there have left, at worst.
    this.#buffer = new Int16Array(frameSamples + 2 * frame)
  }

  /** Rate of what is pushed. */
  get rate(): PcmRate {
    return this.#encoder.sampleRate
  }

  /** Longest payload. */
  get maxBytes(): number {
    return this.#encoder.maxBytes
  }

  /** Whether nothing waits. */
  get empty(): boolean {
    return this.#fill === 0
  }

  /** Whether a whole packet waits. */
  get whole(): boolean {
    return this.#fill >= this.#encoder.frameSamples
  }

  /** Whether a packet is due now, with the one that waits for the next tick left out. */
  get due(): boolean {
    return this.#fill >= this.#encoder.frameSamples + this.#held
  }

  /** Takes a frame of 20 ms. Without one it is silence, which fills the packet that was begun. */
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

  /** Encodes the oldest packet into `out` at `at`. Gives its bytes; 0: nothing is to be sent for it. */
  take(out: Uint8Array, at: number): number {
    const { frameSamples } = this.#encoder
    const bytes = this.#encoder.encode(this.#buffer, 0, out, at)
    this.#buffer.copyWithin(0, frameSamples, this.#fill)
    this.#fill -= frameSamples
    return bytes
  }

  /** Drops what waits. */
  clear(): void {
    this.#fill = 0
  }

  close(): void {
    this.#encoder.close()
  }
}
