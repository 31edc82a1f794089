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

  /** Gives `frame` (20 ms at `from`) at `to`: the same array where the rates agree, else one that is valid until the next call. */
  convert(frame: Int16Array, from: PcmRate, to: PcmRate): Int16Array {
    if (from === to) return frame
    if (!this.#resampler || from !== this.#from || to !== this.#to) {
      this.#resampler = new Resampler(from, to)
      this.#from = from
      this.#to = to
      this.#out = new Int16Array(to / FRAMES)
    }
    this.#resampler.process(frame, 0, from / FRAMES, this.#out, 0)
    return this.#out
  }
}
