import type { AudioSink } from './audio-sinks.ts'
import { InbandDtmfDetector } from './inband-dtmf-detector.ts'

/** Detects DTMF tones in the far end's audio, until the far end sends telephone-events. */
export class DigitSink implements AudioSink {
  readonly rate = 8000
  readonly tracks = 'in'
  #digits: InbandDtmfDetector
  #isMuted = false

  constructor(onDigit: (digit: string, durationMs: number) => void) {
    this.#digits = new InbandDtmfDetector(this.rate, onDigit)
  }

  write(input: Int16Array | undefined): void {
    if (!this.#isMuted) this.#digits.receive(input)
  }

  /**
   * Must be called when a telephone-event was received: its tone, delayed by the jitter buffer, is the same
   * digit and must be ignored.
   */
  event(): void {
    if (this.#isMuted) return
    this.#isMuted = true
    this.#digits.clear()
  }
}
