/** Highest sample of a piece that counts as silence, of 32,768: some -44 dB. */
const silentPeak = 200
/** Silence that ends an answer, in ms. */
const endMs = 900

/**
 * Answers in a stream of sound that never ends: one begins with the first loud piece, and ends with a silence
 * of 900 ms.
 */
export class SoundSegments {
  readonly #samplesPerMs: number
  #silentMs = 0
  #isOpen = false

  constructor(rate: number) {
    this.#samplesPerMs = rate / 1000
  }

  /** Takes a piece. `begin` and `end` are reported once each; `silence`: it belongs to no answer. */
  take(samples: Int16Array): 'begin' | 'sound' | 'end' | 'silence' {
    if (isLoud(samples)) {
      this.#silentMs = 0
      const wasOpen = this.#isOpen
      this.#isOpen = true
      return wasOpen ? 'sound' : 'begin'
    }
    if (!this.#isOpen) return 'silence'
    this.#silentMs += samples.length / this.#samplesPerMs
    if (this.#silentMs < endMs) return 'sound'
    this.#isOpen = false
    return 'end'
  }
}

const isLoud = (samples: Int16Array): boolean =>
  samples.some((sample) => sample > silentPeak || sample < -silentPeak)
