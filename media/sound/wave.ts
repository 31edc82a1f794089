import { SoundError } from './errors.ts'

/** Decoded sound: mono, full scale ±1. */
export interface Wave {
  /** Sampling rate in Hz, 8,000 to 48,000. */
  readonly rate: number
  readonly samples: Float32Array
}

/**
 * Throws a {@link SoundError} if `samples` at `rate` are longer than `maxSeconds`. `kind` names the format.
 */
export const checkLength = (kind: string, samples: number, rate: number, maxSeconds: number): void => {
  if (samples > rate * maxSeconds) throw new SoundError(`${kind}: at most ${maxSeconds} s expected`)
}

/** Collects the parts of a sound while it is decoded. */
export class WaveBuilder {
  #chunks: Float32Array[] = []
  #length = 0

  /** Number of samples so far. */
  get length(): number {
    return this.#length
  }

  add(part: Float32Array): void {
    this.#chunks.push(part)
    this.#length += part.length
  }

  /** Returns the samples from `from` to `to`. */
  slice(from: number, to: number): Float32Array {
    const whole = new Float32Array(Math.max(0, to - from))
    let start = 0
    for (const part of this.#chunks) {
      const first = Math.max(0, from - start)
      const last = Math.min(part.length, to - start)
      if (first < last) whole.set(part.subarray(first, last), start + first - from)
      start += part.length
    }
    return whole
  }
}
