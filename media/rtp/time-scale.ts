import { minPeriodMs, Pitch, pitchReachMs } from '../codecs/pitch.ts'
import type { PcmRate } from '../types.ts'
import type { SampleQueue } from './sample-queue.ts'

/** Mean square that counts as silence: 48 dB below full scale. */
const quietPower = 130 * 130
/** Similarity of neighbouring periods above which removing or repeating one is inaudible. */
const minSimilarity = 0.8
const minFairSimilarity = 0.6

/** Minimum error of the delay before a correction, in ms: in silence, in periodic sound, and in any sound. */
const shortenMs = { quiet: 15, alike: 30, any: 80 } as const
const lengthenMs = { alike: 5, any: 40 } as const

/**
 * Shortens or lengthens sound by one period, by overlapping it with the neighbouring one. This adjusts the
 * delay of a jitter buffer during speech and follows clock drift. Works on the newest samples of a queue.
 */
export class TimeScale {
  #pitch: Pitch
  #perMs: number

  constructor(rate: PcmRate) {
    this.#pitch = new Pitch(rate)
    this.#perMs = rate / 1000
  }

  /** Corrects a delay that is `excess` ms too long (negative: too short), if worthwhile. */
  adjust(queue: SampleQueue, excess: number): void {
    if (excess > shortenMs.quiet) this.#shorten(queue, excess)
    else if (excess < -lengthenMs.alike) this.#lengthen(queue, -excess)
  }

  #shorten(queue: SampleQueue, excess: number): void {
    if (excess < shortenMs.alike) {
      this.#pitch.measure(queue.samples, queue.end)
      if (this.#pitch.power >= quietPower) return
    }
    // Both periods must consist of unread samples.
    if (!this.#look(queue, queue.length >> 1)) return
    const { strength, power, period } = this.#pitch
    const bearable =
      power < quietPower ? shortenMs.quiet : strength > minSimilarity ? shortenMs.alike : shortenMs.any
    if (excess < bearable) return
    const { samples, end } = queue
    const first = end - 2 * period
    for (let i = 0; i < period; i++) {
      const share = (i + 1) / (period + 1)
      samples[first + i] = samples[first + i]! * (1 - share) + samples[first + period + i]! * share
    }
    queue.drop(period)
  }

  #lengthen(queue: SampleQueue, lack: number): void {
    if (!this.#look(queue, queue.length)) return
    const { strength, power, period } = this.#pitch
    if (power >= quietPower && strength < minFairSimilarity && lack < lengthenMs.any) return
    const at = queue.insert(period)
    const { samples } = queue
    // The audio after the previous period is the last period, and the audio before the last period is the
    // previous one.
    for (let i = 0; i < period; i++) {
      const share = (i + 1) / (period + 1)
      samples[at + i] = samples[at + period + i]! * (1 - share) + samples[at - period + i]! * share
    }
  }

  /** Searches for a period of at most `longest` samples; returns false if the audio is too short for one. */
  #look(queue: SampleQueue, longest: number): boolean {
    if (longest < minPeriodMs * this.#perMs) return false
    this.#pitch.find(queue.samples, queue.end, Math.min(longest, (pitchReachMs / 2) * this.#perMs))
    return true
  }
}
