import type { PcmRate } from '../types.ts'

/**
 * Minimum period that is searched, in ms (200 Hz). Higher voices are found by two or more of their periods.
 */
export const minPeriodMs = 5
/** Maximum period that is searched, in ms (66 Hz). */
export const maxPeriodMs = 15
/** Length of the compared section, in ms. */
const windowMs = 15
/** Length of the audio before `end` that {@link Pitch.find} reads, in ms. */
export const pitchReachMs = maxPeriodMs + windowMs

/** Rate of the first, coarse search, in Hz. */
const coarseRate = 4000
const coarseWindow = (windowMs * coarseRate) / 1000

/**
 * Finds the period of a sound by normalised correlation: first at 4 kHz, then sample by sample around the
 * best match.
 */
export class Pitch {
  /** Period of the last {@link find}, in samples. */
  period = 0
  /** Similarity of two neighbouring periods, 0 to 1: 1 for a steady tone, and for silence. */
  strength = 0
  /** Mean square of the last 15 ms. */
  power = 0
  #rate: PcmRate
  #coarse = new Float64Array((pitchReachMs * coarseRate) / 1000)

  constructor(rate: PcmRate) {
    this.#rate = rate
  }

  /** Searches the {@link pitchReachMs} of `samples` before `end`. No period exceeds `longest` samples. */
  find(samples: Int16Array, end: number, longest = (maxPeriodMs * this.#rate) / 1000): void {
    const factor = this.#rate / coarseRate
    const coarse = this.#coarse
    let at = end - coarse.length * factor
    for (let i = 0; i < coarse.length; i++) {
      let sum = 0
      for (let k = 0; k < factor; k++) sum += samples[at++]!
      coarse[i] = sum
    }
    const first = (minPeriodMs * coarseRate) / 1000
    const last = Math.min((maxPeriodMs * coarseRate) / 1000, Math.floor(longest / factor))
    this.#search(coarse, coarse.length, coarseWindow, 1, first, last)
    const middle = this.period * factor
    const window = (windowMs * this.#rate) / 1000
    const from = Math.max(middle - factor, (minPeriodMs * this.#rate) / 1000)
    // At 48 kHz every third sample suffices: periodic sound is far below 8 kHz.
    this.#search(samples, end, window, factor > 4 ? 3 : 1, from, Math.min(middle + factor, longest))
  }

  /** Measures the {@link power} alone, which is much cheaper. */
  measure(samples: Int16Array, end: number): void {
    const window = (windowMs * this.#rate) / 1000
    let power = 0
    for (let i = end - window; i < end; i++) power += samples[i]! * samples[i]!
    this.power = power / window
  }

  /** Compares the last `window` samples before `end` with those `first` to `last` samples earlier. */
  #search(
    samples: Int16Array | Float64Array,
    end: number,
    window: number,
    stride: number,
    first: number,
    last: number,
  ): void {
    const start = end - window
    let power = 0
    for (let i = start; i < end; i += stride) power += samples[i]! * samples[i]!
    this.power = (power * stride) / window
    this.period = last
    this.strength = power === 0 ? 1 : 0
    for (let lag = last; lag >= first; lag--) {
      let product = 0
      let earlier = 0
      for (let i = start; i < end; i += stride) {
        const other = samples[i - lag]!
        product += samples[i]! * other
        earlier += other * other
      }
      const strength = product > 0 ? product / Math.sqrt(power * earlier) : 0
      if (strength <= this.strength) continue
      this.strength = strength
      this.period = lag
    }
  }
}
