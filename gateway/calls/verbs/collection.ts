import type { CollectOptions, CollectResult } from '../../../handlers/verbs.ts'
import type { Recognition, RecognitionListener } from '../../../media/types.ts'
import type { Clock, Timer } from '../../core/clock.ts'
import { DigitCollector } from './digit-collector.ts'
import { SpeechCollector } from './speech-collector.ts'

/** Collaborators and options of a {@link Collection}. */
export interface CollectionOptions {
  readonly clock: Clock
  readonly options: CollectOptions
  /** Starts speech recognition; called if the options include speech. */
  readonly recognise: (listener: RecognitionListener) => Recognition
  /** Called at input that stops the prompt. The end of a stopped prompt need not be reported. */
  readonly stopPrompt: () => void
}

/**
 * Collects digits or speech, whichever comes first. While a prompt plays that input does not stop, no timer
 * runs and the result waits for its end.
 */
export class Collection {
  readonly result: Promise<CollectResult>
  readonly #clock: Clock
  readonly #options: CollectOptions
  readonly #stopPrompt: () => void
  /** Limit of the whole collection. */
  #final: Timer | undefined
  #isClosed = false
  #areTimersHeld: boolean
  #hasInput = false
  readonly #prompt = Promise.withResolvers<void>()
  readonly #ended = Promise.withResolvers<CollectResult>()
  readonly #digits: DigitCollector | undefined
  readonly #speech: SpeechCollector | undefined

  constructor({ clock, options, recognise, stopPrompt }: CollectionOptions) {
    this.#clock = clock
    this.#options = options
    this.#stopPrompt = stopPrompt
    this.#areTimersHeld = options.holdTimers === true
    const { speech } = options
    if (options.digits !== false || !speech)
      this.#digits = new DigitCollector(clock, options, () => this.#input('digits'))
    if (speech)
      this.#speech = new SpeechCollector({
        clock,
        recognise,
        onStart: () => this.#input('speech'),
        options: { ...options, speech },
      })
    this.result = this.#first()
  }

  /** Whether the collection accepts no more digits: it has its result, or was closed. */
  get isOver(): boolean {
    return this.#isClosed || this.#digits?.isOver === true
  }

  /** Digits that end the collection. */
  get terminators(): string {
    return this.#options.terminators ?? ''
  }

  /** Reports the end of the prompt, or that there is no prompt. */
  promptEnded(): void {
    this.#prompt.resolve()
    this.#digits?.promptEnded()
    if (!this.#areTimersHeld) this.#startWait()
  }

  /** Starts the timers unless they run already. */
  startTimers(): void {
    if (!this.#areTimersHeld) return
    this.#areTimersHeld = false
    this.#startWait()
  }

  digit(digit: string): void {
    if (!this.#digits || this.#isClosed) return
    if (this.#speech?.isSpeaking && this.#options.terminators?.includes(digit)) {
      this.#speech.end()
      return
    }
    // A digit cancels speech that has begun: a key press is always intended, while a sound may not be.
    this.#speech?.stop()
    this.#digits.digit(digit)
  }

  /** Ends the collection with the digits so far, as `stopped`. */
  end(): void {
    this.#ended.resolve({ reason: 'stopped', digits: this.#digits?.digits ?? '' })
    this.close()
  }

  /** Cancels the collection; {@link result} never settles then. */
  close(): void {
    this.#final?.cancel()
    this.#final = undefined
    this.#isClosed = true
    this.#digits?.stop()
    this.#speech?.stop()
  }

  #startWait(): void {
    this.#begin()
    // Either kind of input ends the wait, even speech that has just begun.
    if (this.#speech) this.#speech.promptEnded()
    else this.#digits?.awaitFirst()
  }

  #input(by: 'digits' | 'speech'): void {
    const { bargeIn = 'both', onInput } = this.#options
    this.#begin()
    if (bargeIn === 'both' || bargeIn === by) {
      this.#prompt.resolve()
      this.#digits?.promptEnded()
      this.#stopPrompt()
    }
    if (this.#hasInput) return
    this.#hasInput = true
    onInput?.(by)
  }

  #begin(): void {
    const { finalTimeoutMs } = this.#options
    if (finalTimeoutMs === undefined || this.#isClosed) return
    this.#final ??= this.#clock.after(finalTimeoutMs, () => {
      if (this.#speech && !this.#speech.isOver) this.#speech.end()
      else this.#digits?.end()
    })
  }

  async #first(): Promise<CollectResult> {
    const first = Promise.race([this.#digits, this.#speech].flatMap((each) => each?.result ?? [])).then(
      async (result) => {
        this.close()
        // If the input has not stopped the prompt, the result waits for the end of the prompt.
        if (this.#hasInput) await this.#prompt.promise
        return result
      },
    )
    return Promise.race([first, this.#ended.promise])
  }
}
