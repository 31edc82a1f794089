import { pitchReachMs } from '../codecs/pitch.ts'
import type { PcmRate } from '../types.ts'

/** Capacity for unread samples: the longest packet (200 ms), earlier unread samples, and insertions. */
const capacityMs = 280

/**
 * Samples between a decoder and its reader. Keeps the most recent read samples, because the pitch search
 * looks back at them.
 */
export class SampleQueue {
  /** Buffer; the samples from {@link start} to {@link end} are unread. */
  readonly samples: Int16Array
  end: number
  #start: number
  #past: number

  constructor(rate: PcmRate) {
    this.#past = (pitchReachMs * rate) / 1000
    this.samples = new Int16Array(this.#past + (capacityMs * rate) / 1000)
    this.#start = this.#past
    this.end = this.#past
  }

  /** Offset of the first unread sample. */
  get start(): number {
    return this.#start
  }

  /** Number of unread samples. */
  get length(): number {
    return this.end - this.#start
  }

  /** Makes room for `count` more samples and returns their offset; they count once {@link end} is moved. */
  reserve(count: number): number {
    if (this.end + count > this.samples.length) {
      const from = this.#start - this.#past
      this.samples.copyWithin(0, from, this.end)
      this.#start -= from
      this.end -= from
    }
    return this.end
  }

  /** Moves the first `count` samples to the beginning of `out`. */
  read(out: Int16Array, count: number): void {
    const { samples } = this
    const start = this.#start
    for (let i = 0; i < count; i++) out[i] = samples[start + i]!
    this.#start += count
  }

  /** Removes the newest `count` samples. */
  drop(count: number): void {
    this.end -= count
  }

  /** Moves the newest `count` samples back by `count`, and returns the offset of the gap. */
  insert(count: number): number {
    const end = this.reserve(count)
    this.samples.copyWithin(end, end - count, end)
    this.end = end + count
    return end - count
  }
}
