import type { PcmRate } from '../types.ts'
import { SoundError } from './errors.ts'
import type { Samples } from './job-thread.ts'

/** Longest tone, in ms. */
const longestTone = 600_000
/** Longest silence that is played, in ms: that of documents. */
const longestQuiet = 3_600_000

const lengthOf = (ms: number, longest: number, rate: PcmRate): number => {
  if (ms >= 0 && ms <= longest) return Math.round((ms * rate) / 1000)
  throw new SoundError(`Sound: 0 to ${longest} ms expected, found ${ms}`)
}

/** Room for `ms` milliseconds, all zeros. Throws a {@link SoundError} when it is negative, over ten minutes, or no number. */
export const silence = (ms: number, rate: PcmRate): Samples =>
  new Int16Array(new SharedArrayBuffer(lengthOf(ms, longestTone, rate) * 2))

let zeros = new SharedArrayBuffer(0)

/**
 * Silence to be played, not to be written to: all of it is in one piece of memory. Throws a {@link SoundError} when it is negative, over an
 * hour, or no number.
 */
export const quiet = (ms: number, rate: PcmRate): Samples => {
  const length = lengthOf(ms, longestQuiet, rate)
  if (zeros.byteLength < length * 2) zeros = new SharedArrayBuffer(length * 2)
  return new Int16Array(zeros, 0, length)
}

/** The parts one after the other; a single one is given back as it is. */
export const joined = (parts: readonly Samples[]): Samples => {
  if (parts.length === 1) return parts[0]!
  const whole = new Int16Array(new SharedArrayBuffer(parts.reduce((sum, part) => sum + part.byteLength, 0)))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
