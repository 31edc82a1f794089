import { Resampler } from '../codecs/resampler.ts'
import type { PcmRate } from '../types.ts'

/** Frames per second: linear audio has frames of 20 ms everywhere. */
export const framesPerSecond = 50

/** Converts one stream of frames to another rate if needed. */
export class RateAdapter {
  #resampler: Resampler | undefined
  #from: PcmRate = 8000
  #to: PcmRate = 8000
  #out = new Int16Array(0)
  /** Whether the filter still holds the end of earlier audio. */
  #isRinging = false

  /**
   * Converts `frame` (20 ms) from `from` to `to`. Returns the same array for equal rates, else one that is
   * valid until the next call. Undefined is silence; the first silent frame returns the few milliseconds left
   * in the filter, which would otherwise precede the next audio.
   */
  convert(frame: Int16Array, from: PcmRate, to: PcmRate): Int16Array
  convert(frame: Int16Array | undefined, from: PcmRate, to: PcmRate): Int16Array | undefined
  convert(frame: Int16Array | undefined, from: PcmRate, to: PcmRate): Int16Array | undefined {
    if (from === to || !(frame || this.#isRinging)) return frame
    if (!this.#resampler || from !== this.#from || to !== this.#to) {
      this.#resampler = new Resampler(from, to)
      this.#from = from
      this.#to = to
      this.#out = new Int16Array(to / framesPerSecond)
    }
    this.#isRinging = frame !== undefined
    this.#resampler.process(
      frame ?? new Int16Array(from / framesPerSecond),
      0,
      from / framesPerSecond,
      this.#out,
      0,
    )
    return this.#out
  }
}
