/** Frequencies of DTMF in Hz (ITU-T Q.23): the four rows, then the four columns. */
export const dtmfFrequencies = [697, 770, 852, 941, 1209, 1336, 1477, 1633] as const

/** Blocks of Goertzel's filter per second; a block is also one step of the window function. */
const blocksPerSecond = 800
/** Blocks of one window: 20 ms. */
const windowBlocks = 16
/** Blocks between two measurements: 5 ms. */
const stepBlocks = 4
/** Length of a window in seconds. */
const windowSeconds = windowBlocks / blocksPerSecond
const toneCount = dtmfFrequencies.length
/** Mean square below which a block counts as silence (-50 dBov) and is skipped. */
const silentPower = 32_768 ** 2 * 1e-5

/** Hann's window in steps of a block: attenuates the other group's tone by 30 dB. */
const weights = Float64Array.from(
  { length: windowBlocks },
  (_, i) => Math.sin((Math.PI * (i + 0.5)) / windowBlocks) ** 2,
)
const weightSum = weights.reduce((sum, w) => sum + w, 0)
const squareSum = weights.reduce((sum, w) => sum + w * w, 0)

/** Phase of each tone at the start of each block; the phases repeat every second. */
const turned = (part: (angle: number) => number): Float64Array =>
  Float64Array.from({ length: blocksPerSecond * toneCount }, (_, i) =>
    part((-2 * Math.PI * dtmfFrequencies[i % toneCount]! * Math.floor(i / toneCount)) / blocksPerSecond),
  )
const turnedCos = turned(Math.cos)
const turnedSin = turned(Math.sin)

/**
 * Measures the eight tones of DTMF with Goertzel's filter: every 5 ms, the power of each in the last 20 ms.
 * The phase continues from block to block, so that its advance reveals the true frequency.
 */
export class ToneBank {
  /** Last window by tone, as complex numbers; {@link beforeRe} and {@link beforeIm} are from 5 ms before. */
  readonly re = new Float64Array(toneCount)
  readonly im = new Float64Array(toneCount)
  readonly beforeRe = new Float64Array(toneCount)
  readonly beforeIm = new Float64Array(toneCount)
  /** Mean square of the last window, weighted like the tones. */
  power = 0
  #coefficients: Float64Array
  #cos: Float64Array
  #sin: Float64Array
  #block: Float64Array
  #filled = 0
  /** Number of the next block within a second. */
  #number = 0
  #blocksRe = new Float64Array(windowBlocks * toneCount)
  #blocksIm = new Float64Array(windowBlocks * toneCount)
  #energies = new Float64Array(windowBlocks)

  constructor(rate: 8000 | 16000) {
    const angles = dtmfFrequencies.map((frequency) => (2 * Math.PI * frequency) / rate)
    this.#coefficients = Float64Array.from(angles, (angle) => 2 * Math.cos(angle))
    this.#cos = Float64Array.from(angles, Math.cos)
    this.#sin = Float64Array.from(angles, Math.sin)
    this.#block = new Float64Array(rate / blocksPerSecond)
  }

  /**
   * Processes samples from `from` up to the next measurement. Returns the offset reached; -1 if the samples
   * ended first.
   */
  take(samples: Int16Array, from: number): number {
    const block = this.#block
    let at = from
    while (at < samples.length) {
      const count = Math.min(block.length - this.#filled, samples.length - at)
      for (let i = 0; i < count; i++) block[this.#filled + i] = samples[at + i]!
      at += count
      this.#filled += count
      if (this.#filled < block.length) break
      this.#filled = 0
      this.#filter()
      if (this.#number % stepBlocks !== 0) continue
      this.#measure()
      return at
    }
    return -1
  }

  /**
   * Returns the mean square of a tone that is `offset` Hz from its nominal frequency, compensated for the
   * window's attenuation.
   */
  tonePower(tone: number, offset: number): number {
    const amplitude = (2 * Math.hypot(this.re[tone]!, this.im[tone]!)) / (this.#block.length * weightSum)
    return (amplitude / damping(offset * windowSeconds)) ** 2 / 2
  }

  /** Runs the filters over the block. */
  #filter(): void {
    const block = this.#block
    const at = this.#number % windowBlocks
    let energy = 0
    for (let i = 0; i < block.length; i++) energy += block[i]! * block[i]!
    this.#energies[at] = energy
    const isSilent = energy < silentPower * block.length
    for (let tone = 0; tone < toneCount; tone++) {
      if (isSilent) {
        this.#blocksRe[at * toneCount + tone] = 0
        this.#blocksIm[at * toneCount + tone] = 0
      } else this.#goertzel(tone, at * toneCount + tone)
    }
    this.#number = (this.#number + 1) % blocksPerSecond
  }

  #goertzel(tone: number, to: number): void {
    const block = this.#block
    const coefficient = this.#coefficients[tone]!
    let last = 0
    let before = 0
    for (let i = 0; i < block.length; i++) {
      const now = block[i]! + coefficient * last - before
      before = last
      last = now
    }
    const re = last - this.#cos[tone]! * before
    const im = this.#sin[tone]! * before
    const c = turnedCos[this.#number * toneCount + tone]!
    const s = turnedSin[this.#number * toneCount + tone]!
    this.#blocksRe[to] = re * c - im * s
    this.#blocksIm[to] = re * s + im * c
  }

  /**
   * Applies the window to the last blocks. The number of blocks per second is a multiple of the window's
   * length, so the ring is seamless.
   */
  #measure(): void {
    const { re, im } = this
    this.beforeRe.set(re)
    this.beforeIm.set(im)
    re.fill(0)
    im.fill(0)
    this.power = this.#energy() / (this.#block.length * squareSum)
    if (this.power < silentPower) return
    for (let i = 0; i < windowBlocks; i++) {
      const at = ((this.#number + i) % windowBlocks) * toneCount
      const weight = weights[i]!
      for (let tone = 0; tone < toneCount; tone++) {
        re[tone] = re[tone]! + weight * this.#blocksRe[at + tone]!
        im[tone] = im[tone]! + weight * this.#blocksIm[at + tone]!
      }
    }
  }

  /** Returns the energy of the last window, weighted like the tones. */
  #energy(): number {
    let energy = 0
    for (let i = 0; i < windowBlocks; i++)
      energy += weights[i]! ** 2 * this.#energies[(this.#number + i) % windowBlocks]!
    return energy
  }
}

/** Returns the attenuation by Hann's window of a tone that is `x` periods per window off. */
function damping(x: number): number {
  if (Math.abs(x) < 1e-6) return 1
  // Beyond half of the main lobe the compensation stays constant.
  const beside = Math.min(Math.abs(x), 1.2)
  const sinc = Math.sin(Math.PI * beside) / (Math.PI * beside)
  return Math.abs(beside - 1) < 1e-6 ? 0.5 : sinc / (1 - beside * beside)
}
