import type { PcmRate, SoundSource } from '../types.ts'
import { SoundError } from './errors.ts'
import { silence } from './fill.ts'
import type { Samples } from './job-thread.ts'

/** Rise and fall of each tone, in ms: without them it clicks. */
const ramp = 5
/** Of what several frequencies of one tone are made. */
const mostFrequencies = 8

/** Adds frequencies in Hz that sound together, with soft edges; `peak` is that of their sum, of 32,767. */
export const addTones = (
  into: Int16Array,
  frequencies: readonly number[],
  peak: number,
  rate: PcmRate,
): void => {
  const slope = (ramp * rate) / 1000
  const scale = peak / frequencies.length
  for (let i = 0; i < into.length; i++) {
    const turn = (2 * Math.PI * i) / rate
    let sum = 0
    for (const frequency of frequencies) sum += Math.sin(turn * frequency)
    into[i] = Math.round(scale * Math.min(1, i / slope, (into.length - 1 - i) / slope) * sum)
  }
}

/** The tone that was asked for. Throws a {@link SoundError} that names the field which cannot be used. */
export const toneOf = (source: Extract<SoundSource, { kind: 'tone' }>, rate: PcmRate): Samples => {
  const { frequencies, ms, levelDb = -12 } = source
  if (frequencies.length < 1 || frequencies.length > mostFrequencies) {
    throw new SoundError(`Tone: 1 to ${mostFrequencies} frequencies expected, found ${frequencies.length}`)
  }
  for (const frequency of frequencies) {
    // Above half the lowest rate a port of PCMU would hear something else.
    if (!(frequency >= 20 && frequency < 4000)) {
      throw new SoundError(`Tone: frequencies of 20 to 3999 Hz expected, found ${frequency}`)
    }
  }
  if (!(levelDb >= -60 && levelDb <= 0)) {
    throw new SoundError(`Tone: a level of -60 to 0 dB expected, found ${levelDb}`)
  }
  const samples = silence(ms, rate)
  addTones(samples, frequencies, 32_767 * 10 ** (levelDb / 20), rate)
  return samples
}
