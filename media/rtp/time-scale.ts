import { MIN_PERIOD_MS, PITCH_REACH_MS, Pitch } from '../codecs/pitch.ts'
import type { PcmRate } from '../types.ts'
import type { SampleQueue } from './sample-queue.ts'

/** Mean square of what counts as silence: 48 dB below full scale. */
const QUIET_POWER = 130 * 130
/** Likeness of neighbouring periods from which leaving one out, or hearing one twice, is not heard. */
const ALIKE = 0.8
const FAIRLY_ALIKE = 0.6

/** How much too late or too early sound has to be, in ms, before it is changed: in silence, in what repeats itself, and in anything. */
const SHORTEN_MS = { quiet: 15, alike: 30, any: 80 } as const
const LENGTHEN_MS = { alike: 5, any: 40 } as const

/**
 * Makes sound shorter or longer by one period, by overlapping it with the period beside it: so the delay of a jitter buffer changes
 * while somebody speaks, and clocks that differ are followed. Works on the newest samples of a queue.
 */
export class TimeScale {
  #pitch: Pitch
  #perMs: number

  constructor(rate: PcmRate) {
    this.#pitch = new Pitch(rate)
    this.#perMs = rate / 1000
  }

  /** Corrects a delay that is `excess` ms too long (negative: too short), if it is worth it. */
  adjust(queue: SampleQueue, excess: number): void {
    if (excess > SHORTEN_MS.quiet) this.#shorten(queue, excess)
    else if (excess < -LENGTHEN_MS.alike) this.#lengthen(queue, -excess)
  }

  #shorten(queue: SampleQueue, excess: number): void {
    if (excess < SHORTEN_MS.alike) {
      this.#pitch.measure(queue.samples, queue.end)
      if (this.#pitch.power >= QUIET_POWER) return
    }
    // Both periods have to be unheard yet.
    if (!this.#look(queue, queue.length >> 1)) return
    const { strength, power, period } = this.#pitch
    const bearable =
      power < QUIET_POWER ? SHORTEN_MS.quiet : strength > ALIKE ? SHORTEN_MS.alike : SHORTEN_MS.any
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
    if (power >= QUIET_POWER && strength < FAIRLY_ALIKE && lack < LENGTHEN_MS.any) return
    const at = queue.insert(period)
    const { samples } = queue
    // What follows the period before is the last period; what precedes the last period is the one before.
    for (let i = 0; i < period; i++) {
      const share = (i + 1) / (period + 1)
      samples[at + i] = samples[at + period + i]! * (1 - share) + samples[at - period + i]! * share
    }
  }

  /** Looks for a period of at most `longest` samples; false where there is no room for any. */
  #look(queue: SampleQueue, longest: number): boolean {
    if (longest < MIN_PERIOD_MS * this.#perMs) return false
    this.#pitch.find(queue.samples, queue.end, Math.min(longest, (PITCH_REACH_MS / 2) * this.#perMs))
    return true
  }
}
