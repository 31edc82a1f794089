import { FRAME_MS, type Tone, type ToneFollower } from './tone-follower.ts'

/** V.25: 2100 ± 15 Hz for 2.6 to 4 s, with its phase turned around every 450 ms or not, and V.8 lets it swell. */
const CED_HZ = 2100
const CED_TOLERANCE_HZ = 20
/** After so long it is no short beep of a machine any more. */
const CED_MS = 1000
/** T.30: 1100 ± 38 Hz for 0.5 s, then 3 s of silence, both ± 15 %. What is measured of a tone is up to 40 ms shorter than it is. */
const CNG_HZ = 1100
const CNG_TOLERANCE_HZ = 42
const CNG_ON_MS = { least: 385, most: 575 }
const CNG_PERIOD_MS = { least: 2925, most: 4075 }

/** Whether the tone that goes on is the one with which a fax answers (ITU-T V.25): 2100 Hz for a second. */
export function isCed({ current }: ToneFollower): boolean {
  return (
    current !== undefined && current.ms >= CED_MS && Math.abs(current.frequency - CED_HZ) <= CED_TOLERANCE_HZ
  )
}

/** Finds the tone of a fax that calls (ITU-T T.30): 1100 Hz in the rhythm of 0.5 s and 3 s, two times. */
export class CngRhythm {
  /** Since the end of the last tone that fits. */
  #sinceMs = Number.POSITIVE_INFINITY

  /** To be called with every frame; true when it is found. */
  update({ ended }: ToneFollower): boolean {
    this.#sinceMs += FRAME_MS
    if (!ended || !fitsCng(ended)) return false
    const found = this.#sinceMs >= CNG_PERIOD_MS.least && this.#sinceMs <= CNG_PERIOD_MS.most
    this.#sinceMs = 0
    return found
  }
}

function fitsCng({ frequency, ms }: Tone): boolean {
  return Math.abs(frequency - CNG_HZ) <= CNG_TOLERANCE_HZ && ms >= CNG_ON_MS.least && ms <= CNG_ON_MS.most
}
