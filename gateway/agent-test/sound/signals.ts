/** Sounds of callers at 8 kHz. */

const rate = 8000

/** Returns a function that gives the same pseudo-random numbers from -1 to 1 for the same seed. */
export const randomOf = (seed: number): (() => number) => {
  let state = seed >>> 0 || 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state | 0) / 2 ** 31
  }
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
