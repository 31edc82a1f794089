import type { CollectOptions, CollectResult } from '../../../handlers/verbs.ts'
import type { Clock, Timer } from '../../core/clock.ts'

const defaultTimeoutMs = 5_000

/**
 * Gathers digits by the rules of `collect`: so many digits, a terminator, a pause between digits, or none at all. No time runs before
 * {@link promptEnded}.
 */
export class DigitCollector {
  readonly result: Promise<CollectResult>
  #clock: Clock
  #options: CollectOptions
  #settle: (result: CollectResult) => void
  #onFirstDigit: () => void
  #digits = ''
  #timer: Timer | undefined
  #prompting = true
  #done = false

  constructor(clock: Clock, options: CollectOptions, onFirstDigit: () => void) {
    this.#clock = clock
    this.#options = options
    this.#onFirstDigit = onFirstDigit
    const { promise, resolve } = Promise.withResolvers<CollectResult>()
    this.result = promise
    this.#settle = resolve
  }

  /** It has its result, or was given up. */
  get isOver(): boolean {
    return this.#done
  }

  /** What there is so far. */
  get digits(): string {
    return this.#digits
  }

  /** The prompt is at its end, or there is none: from now on a pause between digits is measured. */
  promptEnded(): void {
    if (!this.#prompting) return
    this.#prompting = false
    if (this.#digits !== '') this.#awaitNext()
  }

  /** The wait for the first digit begins. */
  awaitFirst(): void {
    if (this.#digits === '') this.#wait(this.#options.initialTimeoutMs ?? defaultTimeoutMs, 'no-input')
  }

  digit(digit: string): void {
    if (this.#done) return
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
    // Before the first one the wait for it may have begun; while the prompt goes on nobody has to hurry.
    this.#timer?.cancel()
    if (!this.#prompting) this.#awaitNext()
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

  #awaitNext(): void {
    this.#wait(this.#options.interDigitTimeoutMs ?? defaultTimeoutMs, 'inter-digit-timeout')
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
