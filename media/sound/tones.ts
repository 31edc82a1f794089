import type { PcmRate, SoundSource } from '../types.ts'
import { SoundError } from './errors.ts'
import type { Samples } from './job-thread.ts'
import { blankSamples } from './sample-buffers.ts'

/** Rise and fall time of each tone in ms, which avoids clicks. */
const rampMs = 5
/** Maximum number of frequencies in one tone. */
const maxFrequencies = 8

/** Adds simultaneous frequencies in Hz, with soft edges; `peak` of their sum, of 32,767. */
export const addTones = (
  into: Int16Array,
  frequencies: readonly number[],
  peak: number,
  rate: PcmRate,
): void => {
  const slope = (rampMs * rate) / 1000
  const scale = peak / frequencies.length
  for (let i = 0; i < into.length; i++) {
    const turn = (2 * Math.PI * i) / rate
    let sum = 0
    for (const frequency of frequencies) sum += Math.sin(turn * frequency)
    into[i] = Math.round(scale * Math.min(1, i / slope, (into.length - 1 - i) / slope) * sum)
  }
}

/** Returns the requested tone. Throws a {@link SoundError} that names the invalid field. */
export const toneOf = (source: Extract<SoundSource, { kind: 'tone' }>, rate: PcmRate): Samples => {
  const { frequencies, ms, levelDb = -12 } = source
  if (frequencies.length < 1 || frequencies.length > maxFrequencies) {
    throw new SoundError(`Tone: 1 to ${maxFrequencies} frequencies expected, found ${frequencies.length}`)
  }
  for (const frequency of frequencies) {
    // Above half of the lowest rate, a port of PCMU would hear an alias.
    if (!(frequency >= 20 && frequency < 4000)) {
      throw new SoundError(`Tone: frequencies of 20 to 3999 Hz expected, found ${frequency}`)
    }
  }
  if (!(levelDb >= -60 && levelDb <= 0)) {
    throw new SoundError(`Tone: a level of -60 to 0 dB expected, found ${levelDb}`)
  }
  const samples = blankSamples(ms, rate)
  addTones(samples, frequencies, 32_767 * 10 ** (levelDb / 20), rate)
  return samples
}
