import type { CollectOptions, CollectResult } from '../../handlers/verbs.ts'
import type { Clock, Timer } from '../clock.ts'

const FIVE_SECONDS = 5_000

/**
 * Gathers digits by the rules of `collect`: so many digits, a terminator, a pause between digits, or none at all. The wait for the first
 * digit begins with {@link promptEnded}; the first digit ends the prompt (barge-in).
 */
export class DigitCollector {
  readonly result: Promise<CollectResult>
  #clock: Clock
  #options: CollectOptions
  #settle: (result: CollectResult) => void
  #onFirstDigit: () => void
  #digits = ''
  #timer: Timer | undefined
  #done = false

  constructor(clock: Clock, options: CollectOptions, onFirstDigit: () => void) {
    this.#clock = clock
    this.#options = options
    this.#onFirstDigit = onFirstDigit
    const { promise, resolve } = Promise.withResolvers<CollectResult>()
    this.result = promise
    this.#settle = resolve
  }

  /** The prompt is at its end, or there is none. */
  promptEnded(): void {
    if (this.#digits === '') this.#wait(this.#options.initialTimeoutMs ?? FIVE_SECONDS, 'no-input')
  }

  digit(digit: string): void {
    if (this.#done) return
    if (this.#digits === '') this.#onFirstDigit()
    if (this.#options.terminators?.includes(digit)) {
      this.#finish({ reason: 'terminator', digits: this.#digits, terminator: digit })
      return
    }
    this.#digits += digit
    if (this.#digits.length >= (this.#options.maxDigits ?? 1)) {
      this.#finish({ reason: 'complete', digits: this.#digits })
      return
    }
    this.#wait(this.#options.interDigitTimeoutMs ?? FIVE_SECONDS, 'inter-digit-timeout')
  }

  /** Takes what there is. */
  end(): void {
    if (!this.#done)
      this.#finish({
        reason: this.#digits === '' ? 'no-input' : 'inter-digit-timeout',
        digits: this.#digits,
      })
  }

  /** Gives up; {@link result} never settles then. */
  stop(): void {
    this.#done = true
    this.#timer?.cancel()
  }

  #wait(ms: number, reason: 'no-input' | 'inter-digit-timeout'): void {
    if (this.#done) return
    this.#timer?.cancel()
    this.#timer = this.#clock.after(ms, () => this.#finish({ reason, digits: this.#digits }))
  }

  #finish(result: CollectResult): void {
    this.stop()
    this.#settle(result)
  }
}
