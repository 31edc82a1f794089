import { Resampler } from '../codecs/resampler.ts'
import type { PcmRate } from '../types.ts'

/** Frames of a second: linear audio goes by 20 ms everywhere. */
export const FRAMES = 50

/** Brings the frames of one row of sound to another rate, where that differs. */
export class RateAdapter {
  #resampler: Resampler | undefined
  #from: PcmRate = 8000
  #to: PcmRate = 8000
  #out = new Int16Array(0)
  /** The filter still holds the end of what was said. */
  #rings = false

  /**
   * Gives `frame` (20 ms at `from`) at `to`: the same array where the rates agree, else one that is valid until the next call. Undefined is
   * silence, and gives it; but first the few milliseconds that the filter still holds, which would else be heard before the next words.
   */
  convert(frame: Int16Array, from: PcmRate, to: PcmRate): Int16Array
  convert(frame: Int16Array | undefined, from: PcmRate, to: PcmRate): Int16Array | undefined
  convert(frame: Int16Array | undefined, from: PcmRate, to: PcmRate): Int16Array | undefined {
    if (from === to || !(frame || this.#rings)) return frame
    if (!this.#resampler || from !== this.#from || to !== this.#to) {
      this.#resampler = new Resampler(from, to)
      this.#from = from
      this.#to = to
      this.#out = new Int16Array(to / FRAMES)
    }
    this.#rings = frame !== undefined
    this.#resampler.process(frame ?? new Int16Array(from / FRAMES), 0, from / FRAMES, this.#out, 0)
    return this.#out
  }
}
