import type { PcmRate } from '../types.ts'
import { SoundError } from './errors.ts'
import type { Samples } from './job-thread.ts'

/** Maximum length of a tone, in ms. */
const maxToneMs = 600_000
/** Maximum length of silence in documents, in ms. */
const maxSilenceMs = 3_600_000

const lengthOf = (ms: number, longest: number, rate: PcmRate): number => {
  if (ms >= 0 && ms <= longest) return Math.round((ms * rate) / 1000)
  throw new SoundError(`Sound: 0 to ${longest} ms expected, found ${ms}`)
}

/**
 * Returns a zeroed buffer for `ms` milliseconds. Throws a {@link SoundError} if `ms` is negative, over ten
 * minutes, or no number.
 */
export const blankSamples = (ms: number, rate: PcmRate): Samples =>
  new Int16Array(new SharedArrayBuffer(lengthOf(ms, maxToneMs, rate) * 2))

let zeros = new SharedArrayBuffer(0)

/**
 * Returns read-only silence; all callers share one buffer. Throws a {@link SoundError} if `ms` is negative,
 * over an hour, or no number.
 */
export const sharedSilence = (ms: number, rate: PcmRate): Samples => {
  const length = lengthOf(ms, maxSilenceMs, rate)
  if (zeros.byteLength < length * 2) zeros = new SharedArrayBuffer(length * 2)
  return new Int16Array(zeros, 0, length)
}

/** Concatenates samples; returns a single part unchanged. */
export const concatSamples = (parts: readonly Samples[]): Samples => {
  if (parts.length === 1) return parts[0]!
  const whole = new Int16Array(new SharedArrayBuffer(parts.reduce((sum, part) => sum + part.byteLength, 0)))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
