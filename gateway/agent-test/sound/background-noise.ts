import { ComfortNoise } from '../../../media/rtp/comfort-noise.ts'
import type { NoiseKind } from '../scenario/scenario.ts'

const frameSamples = 160
/** Level of the generator in dBov, far from clipping. */
const sourceDb = -20
/** Share of a sample that passes the low-pass of the street, about 500 Hz. */
const streetShare = 0.33
/** Periods of the swell of two lanes of cars, in frames of 20 ms, and its depth in dB. */
const swells = [
  { frames: 350, db: 2 },
  { frames: 215, db: 1.5 },
] as const

/** Noise behind a caller: frames of 20 ms at 8 kHz. The same seed gives the same noise. */
export class BackgroundNoise {
  readonly #source: ComfortNoise
  readonly #type: NoiseKind
  readonly #gain: number
  #last = 0
  #frame = 0

  /** `db`: mean level in dBov. Street noise swells around it, as cars pass. */
  constructor(type: NoiseKind, db: number, seed = 1) {
    this.#type = type
    this.#source = new ComfortNoise(seed)
    this.#gain = 10 ** ((db - sourceDb + (type === 'street' ? streetLossDb : 0)) / 20)
  }

  /** Adds the next 20 ms to a frame. */
  addTo(frame: Int16Array): void {
    const noise = new Int16Array(frameSamples)
    this.#source.fill(sourceDb, noise)
    const gain = this.#gain * (this.#type === 'street' ? this.#swell() : 1)
    this.#frame++
    for (let at = 0; at < frameSamples; at++) {
      if (this.#type === 'street') this.#last += streetShare * (noise[at]! - this.#last)
      const sample = this.#type === 'street' ? this.#last : noise[at]!
      frame[at] = clipped(frame[at]! + sample * gain)
    }
  }

  #swell(): number {
    const db = swells.reduce(
      (sum, swell) => sum + swell.db * Math.sin((2 * Math.PI * this.#frame) / swell.frames),
      0,
    )
    return 10 ** (db / 20)
  }
}

/** Returns a value as a sample of 16 bits. */
export const clipped = (value: number): number => Math.max(-32_768, Math.min(32_767, Math.round(value)))

/** Level that the low-pass takes from white noise, in dB: the power of its impulse response. */
const streetLossDb = -10 * Math.log10(streetShare / (2 - streetShare))
