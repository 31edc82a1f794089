import { PITCH_REACH_MS } from '../codecs/pitch.ts'
import type { PcmRate } from '../types.ts'

/** Room for unread samples: the longest packet (200 ms), what lay there before it, and what is inserted. */
const ROOM_MS = 280

/** Samples between a decoder and its listener; the newest of those that were read stay, as the search for a period looks back at them. */
export class SampleQueue {
  /** All that is kept; unread are those from {@link start} to {@link end}. */
  readonly samples: Int16Array
  end: number
  #start: number
  #past: number

  constructor(rate: PcmRate) {
    this.#past = (PITCH_REACH_MS * rate) / 1000
    this.samples = new Int16Array(this.#past + (ROOM_MS * rate) / 1000)
    this.#start = this.#past
    this.end = this.#past
  }

  /** First unread sample. */
  get start(): number {
    return this.#start
  }

  /** Unread samples. */
  get length(): number {
    return this.end - this.#start
  }

  /** Makes room for `count` more and gives where they are to be written; they count when {@link end} was moved. */
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

  /** Takes the newest `count` samples away. */
  drop(count: number): void {
    this.end -= count
  }

  /** Moves the newest `count` samples back by as many, and gives where the gap begins. */
  insert(count: number): number {
    const end = this.reserve(count)
    this.samples.copyWithin(end, end - count, end)
    this.end = end + count
    return end - count
  }
}
