import { nextTurn } from './clock.ts'

/** The rate of every prompt, in Hz. */
export const promptRate = 8000

/** Zero crossings of the kernel on each side: with the window below, 80 dB down at 3.96 kHz and flat up to 3.3 kHz. */
const crossings = 32
const kaiserBeta = 8
/** The middle of the filter's slope, in Hz; its lower end leaves the telephone band alone. */
const cutoff = 3650

/** Output samples between two turns of the event loop: a few milliseconds of work at 48 kHz. */
const sliceLength = 8192

/**
 * Brings mono samples (full scale is ±1) from `rate` (8,000 to 48,000 Hz) to 8 kHz, through a low-pass where the rate goes down,
 * and to 16 bit, clipped. Long sounds are done in slices, so that the thread's other work goes on in between.
 */
export const toPromptSamples = async (
  samples: Float32Array,
  rate: number,
): Promise<Int16Array<SharedArrayBuffer>> => {
  const length = Math.floor((samples.length * promptRate) / rate)
  const out = new Int16Array(new SharedArrayBuffer(length * 2))
  const convert = rate === promptRate ? copier(samples, out) : filter(samples, rate, out)
  for (let start = 0; start < length; start += sliceLength) {
    if (start > 0) await nextTurn()
    convert(start, Math.min(length, start + sliceLength))
  }
  return out
}

type Slice = (from: number, to: number) => void

const clipped = (value: number): number => Math.max(-32_768, Math.min(32_767, Math.round(value * 32_768)))

const copier =
  (samples: Float32Array, out: Int16Array): Slice =>
  (from, to) => {
    for (let i = from; i < to; i++) out[i] = clipped(samples[i]!)
  }

/** A polyphase filter: output `n` lies at input `n * rate / 8000`, whose fraction repeats after as many outputs as there are phases. */
const filter = (samples: Float32Array, rate: number, out: Int16Array): Slice => {
  const divisor = gcd(rate, promptRate)
  const phases = promptRate / divisor
  const step = rate / divisor
  const half = Math.ceil((crossings * rate) / (2 * cutoff))
  const kernels = Array.from<Float64Array | undefined>({ length: phases })
  return (from, to) => {
    for (let n = from; n < to; n++) {
      const phase = (n * step) % phases
      const centre = (n * step - phase) / phases
      kernels[phase] ??= kernel(phase / phases, half, rate)
      out[n] = clipped(weighted(samples, kernels[phase], centre - half))
    }
  }
}

const weighted = (samples: Float32Array, weights: Float64Array, start: number): number => {
  const first = Math.max(0, -start)
  const end = Math.min(weights.length, samples.length - start)
  let sum = 0
  for (let k = first; k < end; k++) sum += weights[k]! * samples[start + k]!
  return sum
}

/** Windowed sinc for an output that lies `fraction` of an input sample after the centre; its sum is 1. */
const kernel = (fraction: number, half: number, rate: number): Float64Array => {
  const weights = new Float64Array(2 * half + 1)
  let sum = 0
  for (let k = 0; k < weights.length; k++) {
    const distance = k - half - fraction
    const x = (2 * cutoff * distance) / rate
    const sinc = x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x)
    weights[k] = sinc * kaiser(distance / (half + 1))
    sum += weights[k]!
  }
  return weights.map((weight) => weight / sum)
}

const kaiser = (position: number): number =>
  bessel(kaiserBeta * Math.sqrt(Math.max(0, 1 - position * position))) / bessel(kaiserBeta)

/** Modified Bessel function of the first kind, order 0, by its series. */
const bessel = (x: number): number => {
  let term = 1
  let sum = 1
  for (let k = 1; term > sum * 1e-12; k++) {
    term *= (x / (2 * k)) ** 2
    sum += term
  }
  return sum
}

const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b))
