import type { CollectOptions, CollectResult } from '../../../handlers/verbs.ts'
import type { Clock, Timer } from '../../core/clock.ts'

const defaultTimeoutMs = 5_000

/**
 * Collects digits by the rules of `collect`: a number of digits, a terminator, or a pause ends it. No timer
 * runs before {@link promptEnded}.
 */
export class DigitCollector {
  readonly result: Promise<CollectResult>
  #clock: Clock
  #options: CollectOptions
  #settle: (result: CollectResult) => void
  #onFirstDigit: () => void
  #digits = ''
  #timer: Timer | undefined
  #isPrompting = true
  #isDone = false

  constructor(clock: Clock, options: CollectOptions, onFirstDigit: () => void) {
    this.#clock = clock
    this.#options = options
    this.#onFirstDigit = onFirstDigit
    const { promise, resolve } = Promise.withResolvers<CollectResult>()
    this.result = promise
    this.#settle = resolve
  }

  /** Whether the collection has its result or was cancelled. */
  get isOver(): boolean {
    return this.#isDone
  }

  /** Digits so far. */
  get digits(): string {
    return this.#digits
  }

  /**
   * Reports the end of the prompt, or that there is no prompt. Pauses between digits are measured from now
   * on.
   */
  promptEnded(): void {
    if (!this.#isPrompting) return
    this.#isPrompting = false
    if (this.#digits !== '') this.#awaitNext()
  }

  /** Starts the wait for the first digit. */
  awaitFirst(): void {
    if (this.#digits === '') this.#wait(this.#options.initialTimeoutMs ?? defaultTimeoutMs, 'no-input')
  }

  digit(digit: string): void {
    if (this.#isDone) return
    if (this.#digits === '') this.#onFirstDigit()
    if (this.#options.terminators?.includes(digit)) {
      this.#finish({ reason: 'terminator', digits: this.#digits, terminator: digit })
      return
    }
    this.#digits += digit
    this.#options.onDigits?.(this.#digits)
    if (this.#digits.length >= (this.#options.maxDigits ?? 1)) {
      this.#finish({ reason: 'complete', digits: this.#digits })
      return
    }
    // The timer of the first digit may be running. During the prompt no pause is measured.
    this.#timer?.cancel()
    if (!this.#isPrompting) this.#awaitNext()
  }

  /** Ends the collection with the digits so far. */
  end(): void {
    if (!this.#isDone)
      this.#finish({
        reason: this.#digits === '' ? 'no-input' : 'inter-digit-timeout',
        digits: this.#digits,
      })
  }

  /** Cancels the collection; {@link result} never settles then. */
  stop(): void {
    this.#isDone = true
    this.#timer?.cancel()
  }

  #awaitNext(): void {
    this.#wait(this.#options.interDigitTimeoutMs ?? defaultTimeoutMs, 'inter-digit-timeout')
  }

  #wait(ms: number, reason: 'no-input' | 'inter-digit-timeout'): void {
    if (this.#isDone) return
    this.#timer?.cancel()
    this.#timer = this.#clock.after(ms, () => this.#finish({ reason, digits: this.#digits }))
  }

  #finish(result: CollectResult): void {
    this.stop()
    this.#settle(result)
  }
}
