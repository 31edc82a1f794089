import { powers } from './g722-tables.ts'

/** Sub-band; the two differ in their scale factors. */
export type BandKind = 'lower' | 'upper'

const saturate = (value: number): number => Math.max(-32768, Math.min(32767, value))

/**
 * Initial scale factor of each sub-band, limit of its logarithmic scale factor, and shift to a linear one.
 */
const beginnings = {
  lower: { scale: 32, limit: 18432, shift: 8 },
  upper: { scale: 8, limit: 22528, shift: 10 },
} as const

/**
 * Adaptive half of one sub-band of G.722, the same in encoder and decoder. Consists of block 3 (scale factor)
 * and block 4 (predictor with two poles and six zeros). All numbers are 16-bit integers as in the standard,
 * which keeps both sides bit-exact.
 */
export class Band {
  /** Predicted next sample (`s` of the standard). */
  prediction = 0
  /** Linear scale factor (`det`). */
  scale: number
  #limit: number
  #shift: number
  /** Logarithmic scale factor (`nb`). */
  #log = 0
  /**
   * Coefficients of the poles, and the reconstructed and partially reconstructed signals that they filter.
   */
  #a1 = 0
  #a2 = 0
  #r1 = 0
  #p1 = 0
  #p2 = 0
  /** Part of the prediction that comes from the zeros (`sz`). */
  #zeros = 0
  /** Coefficients of the zeros, and twice the differences that they filter, newest first. */
  #b = new Int32Array(6)
  #d = new Int32Array(6)

  constructor(kind: BandKind) {
    const { scale, limit, shift } = beginnings[kind]
    this.scale = scale
    this.#limit = limit
    this.#shift = shift
  }

  /** Block 3: adapts the scale factor; `step` is that of the code (WL, WH). */
  adapt(step: number): void {
    let log = ((this.#log * 127) >> 7) + step
    if (log < 0) log = 0
    else if (log > this.#limit) log = this.#limit
    this.#log = log
    const power = powers[(log >> 6) & 31]!
    const shift = this.#shift - (log >> 11)
    this.scale = (shift < 0 ? power << -shift : power >> shift) << 2
  }

  /** Block 4: takes the quantised difference and predicts the next sample. */
  predict(difference: number): void {
    const reconstructed = saturate(this.prediction + difference)
    const partial = saturate(this.#zeros + difference)
    this.#movePoles(partial)
    this.#moveZeros(difference)
    const poles =
      ((this.#a1 * saturate(reconstructed + reconstructed)) >> 15) +
      ((this.#a2 * saturate(this.#r1 + this.#r1)) >> 15)
    this.#r1 = reconstructed
    this.prediction = saturate(saturate(poles) + this.#zeros)
  }

  /**
   * UPPOL2, UPPOL1: uses the signs of the last three partially reconstructed samples. Limits keep the filter
   * stable.
   */
  #movePoles(partial: number): void {
    const a1 = this.#a1
    const four = saturate(a1 << 2)
    const along = (partial ^ this.#p1) >= 0
    const back = along ? saturate(-four) : four
    let a2 = ((partial ^ this.#p2) >= 0 ? 128 : -128) + (back >> 7) + ((this.#a2 * 32512) >> 15)
    if (a2 > 12288) a2 = 12288
    else if (a2 < -12288) a2 = -12288
    const limit = 15360 - a2
    const moved = (along ? 192 : -192) + ((a1 * 32640) >> 15)
    this.#a1 = moved > limit ? limit : Math.max(moved, -limit)
    this.#a2 = a2
    this.#p2 = this.#p1
    this.#p1 = partial
  }

  /** UPZERO and FILTEZ in one pass. The coefficients' leak of 1/256 keeps them within 16 bits. */
  #moveZeros(difference: number): void {
    const b = this.#b
    const d = this.#d
    const step = difference === 0 ? 0 : 128
    let sum = 0
    let newer = saturate(difference + difference)
    for (let i = 0; i < 6; i++) {
      const older = d[i]!
      const coefficient = ((b[i]! * 32640) >> 15) + ((older ^ difference) >= 0 ? step : -step)
      b[i] = coefficient
      d[i] = newer
      sum += (coefficient * newer) >> 15
      newer = older
    }
    this.#zeros = saturate(sum)
  }
}
