/** Sounds of callers and agents for the measurements: 8 kHz samples. */

const rate = 8000
const frameSamples = 160
/** Amplitude from which a sample counts as sound. */
const loud = 800
/** Amplitude of the begin and the end of trimmed speech: a voice, rather than its breath. */
const voiced = 3000

/** Returns a function that gives the same pseudo-random numbers from -1 to 1 for the same seed. */
const randomOf = (seed: number): (() => number) => {
  let state = seed >>> 0 || 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state | 0) / 2 ** 31
  }
}

/**
 * Returns noise of -20 dBov. Its level is steady and each 20 ms of it are unlike all others, so that any
 * part tells its position.
 */
export const markedNoise = (ms: number, seed = 1): Int16Array => {
  const random = randomOf(seed)
  return Int16Array.from({ length: (ms * rate) / 1000 }, () => Math.round(5676 * random()))
}

/** Returns a cough: noise that begins within 10 ms and fades, low-passed, of -15 dBov at its peak. */
export const cough = (ms: number, seed: number): Int16Array => {
  const random = randomOf(seed)
  let last = 0
  const length = (ms * rate) / 1000
  return Int16Array.from({ length }, (_, at) => {
    last += 0.45 * (random() - last)
    const shape = Math.min(1, at / 80) * Math.exp((-2.3 * at) / length)
    return Math.round(22_000 * shape * last)
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
