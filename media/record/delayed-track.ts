import { framesPerSecond } from '../rtp/rate-adapter.ts'
import { SampleQueue } from '../rtp/sample-queue.ts'
import { TimeScale } from '../rtp/time-scale.ts'
import type { PcmRate } from '../types.ts'

/** Maximum delay, in ms: that of a jitter buffer, and of a long packet. */
const maxDelayMs = 240

/**
 * Track of a recording that waits until it is as old as the other one. A change of the delay removes or
 * repeats silence, or whole periods of a sound, as a jitter buffer does. So it is inaudible.
 */
export class DelayedTrack {
  readonly #perMs: number
  readonly #frame: Int16Array
  readonly #queue: SampleQueue
  readonly #scale: TimeScale
  #hasBegun = false

  /** `rate` of the frames, in Hz. */
  constructor(rate: PcmRate) {
    this.#perMs = rate / 1000
    this.#frame = new Int16Array(rate / framesPerSecond)
    this.#queue = new SampleQueue(rate)
    this.#scale = new TimeScale(rate)
  }

  /** Present delay, in ms. */
  get delayMs(): number {
    return this.#queue.length / this.#perMs
  }

  /**
   * Adds 20 ms, undefined for silence, and returns the 20 ms that are due, valid until the next call. The
   * delay approaches `wantedMs`, at most 240; negative counts as 0. The first frame has that delay at once.
   */
  pass(frame: Int16Array | undefined, wantedMs: number): Int16Array {
    const queue = this.#queue
    const count = this.#frame.length
    const delayMs = Math.min(maxDelayMs, Math.max(0, wantedMs))
    if (!this.#hasBegun) this.#append(undefined, Math.round(delayMs * this.#perMs))
    this.#hasBegun = true
    this.#append(frame, count)
    this.#scale.adjust(queue, (queue.length - count) / this.#perMs - delayMs)
    queue.read(this.#frame, count)
    return this.#frame
  }

  /**
   * Returns the next 20 ms that wait, filled up with silence; valid until the next call. The next frame has
   * its delay at once, as the first one.
   */
  take(): Int16Array {
    this.#hasBegun = false
    const count = this.#frame.length
    const missing = count - this.#queue.length
    if (missing > 0) this.#append(undefined, missing)
    this.#queue.read(this.#frame, count)
    return this.#frame
  }

  #append(frame: Int16Array | undefined, count: number): void {
    const queue = this.#queue
    const at = queue.reserve(count)
    if (frame) queue.samples.set(frame, at)
    else queue.samples.fill(0, at, at + count)
    queue.end += count
  }
}
