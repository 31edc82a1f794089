import type { PcmRate } from '../types.ts'
import type { Samples } from './job-thread.ts'
import { blankSamples } from './sample-buffers.ts'

/** Length of one note, in ms. */
const noteMs = 400
/** Time in which a note decays to a third, in ms. */
const fadeMs = 600
/** Attack time in ms, which avoids clicks. */
const riseMs = 8
/** Peak of one note, of 32,767: three overlapping notes stay below a ringing tone. */
const peak = 2600

/** Four chords, each broken up and down: A minor, F, C, G. Notes as semitones from A4 (440 Hz). */
const chords: readonly (readonly number[])[] = [
  [-12, -5, 0, 3, 7, 3, 0, -5],
  [-16, -9, -4, 0, 3, 0, -4, -9],
  [-9, -5, -2, 3, 7, 3, -2, -5],
  [-14, -7, -2, 2, 5, 2, -2, -7],
]

/** Returns one round of the built-in hold music: soft broken chords, 12.8 s, seamless in a loop. 16 bit. */
export const holdMusic = (rate: PcmRate): Samples => {
  const notes = chords.flat()
  const samples = blankSamples(notes.length * noteMs, rate)
  const step = (noteMs * rate) / 1000
  for (const [i, semitones] of notes.entries()) add(samples, i * step, 440 * 2 ** (semitones / 12), rate)
  return samples
}

/**
 * Adds a note with its octave, like a struck string. It sustains into the following notes, and from the end
 * into the beginning.
 */
const add = (into: Int16Array, from: number, frequency: number, rate: PcmRate): void => {
  const length = 3 * ((noteMs * rate) / 1000)
  const rise = (riseMs * rate) / 1000
  const fade = (fadeMs * rate) / 1000
  for (let i = 0; i < length; i++) {
    const turn = (2 * Math.PI * frequency * i) / rate
    const loudness = Math.min(1, i / rise, (length - i) / rise) * Math.exp(-i / fade)
    const at = (from + i) % into.length
    into[at] = into[at]! + Math.round(peak * loudness * (Math.sin(turn) + 0.3 * Math.sin(2 * turn)))
  }
}
