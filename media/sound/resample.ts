import { lowPass } from '../codecs/low-pass.ts'
import type { PcmRate } from '../types.ts'

/**
 * Zero crossings of the kernel on each side. With the window below, 80 dB down at 0.495 of the lower rate and
 * flat up to 0.41 of it.
 */
const zeroCrossings = 32
const kaiserBeta = 8
/**
 * Middle of the filter's slope, relative to the lower rate. For 8 kHz the slope starts above the telephone
 * band.
 */
const cutoff = 0.45625

/**
 * Converts mono samples (full scale ±1) from one rate (8,000 to 48,000 Hz) to another and to 16 bit, clipped.
 * Filters with a low-pass below half of the lower rate. May take seconds: not for the main thread.
 */
export const toPrompt = (samples: Float32Array, from: number, to: PcmRate): Int16Array<SharedArrayBuffer> => {
  const length = Math.floor((samples.length * to) / from)
  const out = new Int16Array(new SharedArrayBuffer(length * 2))
  if (from === to) for (let i = 0; i < length; i++) out[i] = clipped(samples[i]!)
  else filter(samples, from, to, out)
  return out
}

const clipped = (value: number): number => Math.max(-32_768, Math.min(32_767, Math.round(value * 32_768)))

/**
 * Polyphase filter: output `n` lies at input `n * from / to`, whose fraction repeats after `phases` outputs.
 */
const filter = (samples: Float32Array, from: number, to: number, out: Int16Array): void => {
  const divisor = gcd(from, to)
  const phases = to / divisor
  const step = from / divisor
  const share = (cutoff * Math.min(from, to)) / from
  const half = Math.ceil(zeroCrossings / (2 * share))
  const kernels = Array.from<Float64Array | undefined>({ length: phases })
  for (let n = 0; n < out.length; n++) {
    const phase = (n * step) % phases
    const centre = (n * step - phase) / phases
    kernels[phase] ??= kernel(phase / phases, half, share)
    out[n] = clipped(weighted(samples, kernels[phase], centre - half))
  }
}

const weighted = (samples: Float32Array, weights: Float64Array, start: number): number => {
  const first = Math.max(0, -start)
  const end = Math.min(weights.length, samples.length - start)
  let sum = 0
  for (let k = first; k < end; k++) sum += weights[k]! * samples[start + k]!
  return sum
}

/** Returns the filter for an output `fraction` of an input sample after the centre; its sum is 1. */
const kernel = (fraction: number, half: number, share: number): Float64Array => {
  const weights = Float64Array.from({ length: 2 * half + 1 }, (_, k) =>
    lowPass(k - half - fraction, half + 1, share, kaiserBeta),
  )
  const sum = weights.reduce((total, weight) => total + weight, 0)
  return weights.map((weight) => weight / sum)
}

const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b))
