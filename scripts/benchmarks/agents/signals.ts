/** Sounds of callers and agents for the measurements: 8 kHz samples. */

import { randomOf } from '../../../gateway/agent-test/sound/signals.ts'

const frameSamples = 160
/** Amplitude from which a sample counts as sound. */
const loud = 800
/** Amplitude of the begin and the end of trimmed speech: a voice, rather than its breath. */
const voiced = 3000

/** Returns a rustle: noise whose level changes ten times a second, of -18 dBov at its peaks. */
export const rustle = (ms: number, seed: number): Int16Array => {
  const random = randomOf(seed)
  return Int16Array.from({ length: ms * 8 }, (_, at) => {
    const level = 0.5 + 0.5 * Math.sin((2 * Math.PI * 10 * at) / 8000)
    return Math.round(7000 * (0.15 + 0.85 * level) * random())
  })
}

/** Returns a click of 4 ms. */
export const click = (): Int16Array =>
  Int16Array.from({ length: 32 }, (_, at) => (at % 4 < 2 ? 14_000 : -14_000))

/** Returns speech from its first to its last voiced sample, filled up to whole packets of 20 ms. */
export const trimmed = (samples: Int16Array): Int16Array => {
  const first = samples.findIndex((sample) => Math.abs(sample) >= voiced)
  if (first === -1) return new Int16Array(0)
  const last = samples.findLastIndex((sample) => Math.abs(sample) >= voiced)
  const whole = new Int16Array(Math.ceil((last + 1 - first) / frameSamples) * frameSamples)
  whole.set(samples.subarray(first, last + 1))
  return whole
}

/** Whether samples have sound. */
export const isLoud = (samples: Int16Array): boolean => samples.some((sample) => Math.abs(sample) >= loud)
