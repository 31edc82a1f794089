import type { PcmRate } from '../types.ts'
import { SoundError } from './errors.ts'
import type { Samples } from './job-thread.ts'

/** Longest silence or tone, in ms. */
export const longestMs = 600_000

/** Room for `ms` milliseconds, all zeros. Throws a {@link SoundError} when it is negative, over ten minutes, or no number. */
export const silence = (ms: number, rate: PcmRate): Samples => {
  if (!(ms >= 0 && ms <= longestMs)) throw new SoundError(`Sound: 0 to ${longestMs} ms expected, found ${ms}`)
  return new Int16Array(new SharedArrayBuffer(Math.round((ms * rate) / 1000) * 2))
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
