import type { Ear } from './ears.ts'
import { InbandDigits } from './inband-digits.ts'

/** Detects DTMF tones in the far end's audio, until the far end sends telephone-events. */
export class DigitEar implements Ear {
  readonly rate = 8000
  readonly tracks = 'in'
  #digits: InbandDigits
  #deaf = false

  constructor(onDigit: (digit: string, durationMs: number) => void) {
    this.#digits = new InbandDigits(this.rate, onDigit)
  }

  hear(input: Int16Array | undefined): void {
    if (!this.#deaf) this.#digits.receive(input)
  }

  /**
   * A telephone-event was received. Its tone, delayed by the jitter buffer, is the same digit and must be
   * ignored.
   */
  event(): void {
    if (this.#deaf) return
    this.#deaf = true
    this.#digits.clear()
  }
}
