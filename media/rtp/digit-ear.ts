import type { Ear } from './ears.ts'
import { InbandDigits } from './inband-digits.ts'

/** Finds digits in what the far end says, until it shows that it sends them as events. */
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

  /** A telephone-event has come: its tone, which comes later than it through the jitter buffer, is the same digit. */
  event(): void {
    if (this.#deaf) return
    this.#deaf = true
    this.#digits.clear()
  }
}
