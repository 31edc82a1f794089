import { randomOf } from '../sound/signals.ts'

const rate = 8000

/**
 * Returns noise of -20 dBov. Its level is steady and each 20 ms of it are unlike all others, so that any
 * part tells its position.
 */
export const markedNoise = (ms: number, seed = 1): Int16Array => {
  const random = randomOf(seed)
  return Int16Array.from({ length: (ms * rate) / 1000 }, () => Math.round(5676 * random()))
}
