import type { PcmRate } from '../types.ts'
import { kaiser66Db, lowPass } from './low-pass.ts'

/** Rates to convert between, each pair with a whole ratio; 24,000 is common among speech engines. */
export type ResamplerRate = PcmRate | 24_000

/** Input of one pass; longer inputs take several. */
const passMs = 20

/**
 * Filters between two rates, by the lower rate. `half` is the reach to each side in samples of the lower
 * rate; `cutoff` is the middle of the slope in Hz. Flat up to 3.4, 7 and 10.5 kHz; 60 dB down from 4, 8 and
 * 12 kHz on.
 */
const bands = {
  8000: { half: 27, cutoff: 3700 },
  16000: { half: 33, cutoff: 7500 },
  24000: { half: 33, cutoff: 11_250 },
} as const

/** Phases of the filter, one after the other, each reversed and padded to a multiple of 4. */
interface Kernel {
  readonly phases: readonly Float64Array[]
  /** Length of each phase. */
  readonly taps: number
}

const kernels = new Map<string, Kernel>()

/** Returns the filter for one pair of rates, created once. */
function kernelOf(from: ResamplerRate, to: ResamplerRate): Kernel {
  const name = `${from}/${to}`
  let kernel = kernels.get(name)
  if (!kernel) {
    kernel = makeKernel(from, to)
    kernels.set(name, kernel)
  }
  return kernel
}

function makeKernel(from: ResamplerRate, to: ResamplerRate): Kernel {
  const band = bands[Math.min(from, to) as keyof typeof bands]
  const ratio = Math.max(from, to) / Math.min(from, to)
  const half = band.half * ratio
  const count = to > from ? ratio : 1
  const taps = Math.ceil((2 * half + 1) / count / 4) * 4
  const phases = Array.from({ length: count }, (_, phase) => {
    const weights = new Float64Array(taps)
    for (let k = 0; phase + k * count <= 2 * half; k++) {
      const distance = phase + k * count - half
      weights[taps - 1 - k] = lowPass(distance, half + 1, band.cutoff / Math.max(from, to), kaiser66Db)
    }
    const sum = weights.reduce((total, weight) => total + weight, 0)
    return weights.map((weight) => weight / sum)
  })
  return { phases, taps }
}

/**
 * Converts a stream of 16-bit samples from one rate to another, by a linear-phase polyphase filter with
 * memory, so that frames join without a seam. 20 ms of input give 20 ms of output. Flat (0.1 dB) up to 3.4
 * kHz with 8 kHz on one side, up to 10.5 kHz with 24 kHz, else up to 7 kHz. Images and aliases are at least
 * 60 dB down from half of the lower rate on. One per stream; allocates only when constructed.
 */
export class Resampler {
  readonly from: ResamplerRate
  readonly to: ResamplerRate
  #kernel: Kernel | undefined
  #line: Float64Array
  #round: number
  /** Input samples per output sample when converting down; else 1. */
  #step: number
  /** Input samples to skip before the next output when converting down. */
  #skip = 0

  constructor(from: ResamplerRate, to: ResamplerRate) {
    this.from = from
    this.to = to
    this.#kernel = from === to ? undefined : kernelOf(from, to)
    this.#round = (from / 1000) * passMs
    this.#line = new Float64Array(this.#kernel ? this.#kernel.taps - 1 + this.#round : 0)
    this.#step = Math.max(1, from / to)
  }

  /**
   * Delay of the filter in ms. 3.375 with 8 kHz on one side; 2.0625 between 16 and 48 kHz. 1.375 between 24
   * and 48 kHz; 0 for equal rates.
   */
  get delayMs(): number {
    if (this.from === this.to) return 0
    const lower = Math.min(this.from, this.to) as keyof typeof bands
    return (bands[lower].half * 1000) / lower
  }

  /**
   * Converts the samples from `start` to `end` (exclusive) of `input` and writes to `out` from `at` on.
   * Returns the number of samples written: exactly `to / from` times the input over the whole stream.
   */
  process(input: Int16Array, start: number, end: number, out: Int16Array, at: number): number {
    if (!this.#kernel) {
      for (let i = start; i < end; i++) out[at + i - start] = input[i]!
      return end - start
    }
    let to = at
    for (let from = start; from < end; from += this.#round) {
      to = this.#convert(this.#kernel, input, from, Math.min(this.#round, end - from), out, to)
    }
    return to - at
  }

  #convert(
    kernel: Kernel,
    input: Int16Array,
    from: number,
    count: number,
    out: Int16Array,
    at: number,
  ): number {
    const line = this.#line
    const { phases, taps } = kernel
    const history = taps - 1
    for (let i = 0; i < count; i++) line[history + i] = input[from + i]!
    let start = this.#skip
    for (; start < count; start += this.#step) {
      for (let phase = 0; phase < phases.length; phase++) {
        out[at++] = rounded(weighted(line, start, phases[phase]!, taps))
      }
    }
    this.#skip = start - count
    line.copyWithin(0, count, count + history)
    return at
  }
}

/** Weighted sum of samples. Four partial sums avoid waiting for the previous addition. */
function weighted(line: Float64Array, start: number, weights: Float64Array, taps: number): number {
  let a = 0
  let b = 0
  let c = 0
  let d = 0
  for (let k = 0, i = start; k < taps; k += 4, i += 4) {
    a += weights[k]! * line[i]!
    b += weights[k + 1]! * line[i + 1]!
    c += weights[k + 2]! * line[i + 2]!
    d += weights[k + 3]! * line[i + 3]!
  }
  return a + b + (c + d)
}

function rounded(value: number): number {
  if (value >= 32767) return 32767
  if (value <= -32768) return -32768
  return ((value + 32768.5) | 0) - 32768
}
