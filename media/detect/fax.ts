import { frameMs, type Tone, type ToneTracker } from './tone-tracker.ts'

/**
 * V.25: 2100 ± 15 Hz for 2.6 to 4 s, optionally with phase reversals every 450 ms; V.8 adds amplitude
 * modulation.
 */
const cedHz = 2100
const cedToleranceHz = 20
/** Minimum length of the tone, which distinguishes it from a machine's short beep. */
const cedMs = 1000
/**
 * T.30: 1100 ± 38 Hz for 0.5 s, then 3 s of silence, both ± 15 %. Tones are measured up to 40 ms too short.
 */
const cngHz = 1100
const cngToleranceHz = 42
const cngOnMs = { min: 385, max: 575 }
const cngPeriodMs = { min: 2925, max: 4075 }

/** Whether the current tone is the answer tone of a fax (ITU-T V.25): 2100 Hz for a second. */
export function isCed({ current }: ToneTracker): boolean {
  return current !== undefined && current.ms >= cedMs && Math.abs(current.frequency - cedHz) <= cedToleranceHz
}

/** Detects the tone of a calling fax (ITU-T T.30): 1100 Hz in the rhythm of 0.5 s and 3 s, twice. */
export class CngRhythm {
  /** Time since the end of the last matching tone. */
  #sinceMs = Number.POSITIVE_INFINITY

  /** Must be called for every frame; returns true when the tone is detected. */
  update({ ended }: ToneTracker): boolean {
    this.#sinceMs += frameMs
    if (!ended || !fitsCng(ended)) return false
    const found = this.#sinceMs >= cngPeriodMs.min && this.#sinceMs <= cngPeriodMs.max
    this.#sinceMs = 0
    return found
  }
}

function fitsCng({ frequency, ms }: Tone): boolean {
  return Math.abs(frequency - cngHz) <= cngToleranceHz && ms >= cngOnMs.min && ms <= cngOnMs.max
}
