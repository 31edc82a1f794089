import type { PcmRate } from '../types.ts'
import { KAISER_66_DB, lowPass } from './low-pass.ts'

/** Rates between which sound can be brought, where one is a multiple of the other: 24,000 is that of speech engines outside. */
export type ResamplerRate = PcmRate | 24_000

/** Input of one round; longer ones are done in several. */
const ROUND_MS = 20

/**
 * The filter between two rates, by the lower one, whose band both share: `half` is its reach to each side in samples of the lower rate, and
 * `cutoff` the middle of its slope in Hz. Flat up to 3.4, 7 and 10.5 kHz, and 60 dB down from 4, 8 and 12 kHz
 * on.
 */
const bands = {
  8000: { half: 27, cutoff: 3700 },
  16000: { half: 33, cutoff: 7500 },
  24000: { half: 33, cutoff: 11_250 },
} as const

/** The filter's phases, one after the other, each backwards and filled up to a multiple of 4. */
interface Kernel {
  readonly phases: readonly Float64Array[]
  /** Length of each. */
  readonly taps: number
}

const kernels = new Map<string, Kernel>()

/** The filter for one pair of rates; made once. */
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
      weights[taps - 1 - k] = lowPass(distance, half + 1, band.cutoff / Math.max(from, to), KAISER_66_DB)
    }
    const sum = weights.reduce((total, weight) => total + weight, 0)
    return weights.map((weight) => weight / sum)
  })
  return { phases, taps }
}

/**
 * Brings a stream of 16-bit samples from one rate to another: a linear-phase polyphase filter that remembers what went before, so that
 * frames join without a seam. 20 ms in give 20 ms out. Flat (0.1 dB) up to 3.4 kHz where one of the rates is 8 kHz, else up to 7 or, with 24 kHz, 10.5 kHz;
 * images and aliases are at least 60 dB down from half of the lower rate on. One per stream; allocates nothing after its making.
 */
export class Resampler {
  readonly from: ResamplerRate
  readonly to: ResamplerRate
  #kernel: Kernel | undefined
  #line: Float64Array
  #round: number
  /** Input samples from one output to the next, where the rate goes down; else 1. */
  #step: number
  /** Input samples to pass before the next output, where the rate goes down. */
  #skip = 0

  constructor(from: ResamplerRate, to: ResamplerRate) {
    this.from = from
    this.to = to
    this.#kernel = from === to ? undefined : kernelOf(from, to)
    this.#round = (from / 1000) * ROUND_MS
    this.#line = new Float64Array(this.#kernel ? this.#kernel.taps - 1 + this.#round : 0)
    this.#step = Math.max(1, from / to)
  }

  /** By how much the sound comes later, in ms: 3.375 with 8 kHz on one side, 2.0625 between 16 and 48 kHz, 1.375 between 24 and 48 kHz, 0 where both rates are one. */
  get delayMs(): number {
    if (this.from === this.to) return 0
    const lower = Math.min(this.from, this.to) as keyof typeof bands
    return (bands[lower].half * 1000) / lower
  }

  /**
   * Takes the samples from `start` to `end` (exclusive) of `input`, any number of them, and writes to `out` from `at` on. Gives the number
   * of samples written: exactly `to / from` of the input's over the whole stream.
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

/** The sum of weighted samples; four sums at once, as each addition waits for the one before it. */
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
