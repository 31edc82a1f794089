import type { CollectOptions, CollectResult } from '../../handlers/verbs.ts'
import type { Recognition, RecognitionListener } from '../../media/types.ts'
import type { Clock, Timer } from '../clock.ts'
import { DigitCollector } from './collector.ts'
import { SpeechCollector } from './speech-collector.ts'

/** What a {@link Collection} works with. */
export interface CollectionParts {
  readonly clock: Clock
  readonly options: CollectOptions
  /** Begins to listen to the caller; asked for where the options want speech. */
  readonly recognise: (listener: RecognitionListener) => Recognition
  /** The caller presses a key or begins to speak. */
  readonly onInput: () => void
}

/** Gathers digits, speech, or whichever of both comes first. */
export class Collection {
  readonly result: Promise<CollectResult>
  readonly #clock: Clock
  readonly #options: CollectOptions
  /** Of the whole collection. */
  #final: Timer | undefined
  #over = false
  readonly #digits: DigitCollector | undefined
  readonly #speech: SpeechCollector | undefined

  constructor({ clock, options, recognise, onInput: told }: CollectionParts) {
    this.#clock = clock
    this.#options = options
    const onInput = () => {
      this.#begin()
      told()
    }
    const { speech } = options
    if (options.digits !== false || !speech) this.#digits = new DigitCollector(clock, options, onInput)
    if (speech)
      this.#speech = new SpeechCollector({
        ...{ clock, recognise, onStart: onInput },
        options: { ...options, speech },
      })
    this.result = this.#first()
  }

  /** The prompt is at its end, or there is none. */
  promptEnded(): void {
    this.#begin()
    // The wait is for either, and speech that has only begun ends it.
    if (this.#speech) this.#speech.promptEnded()
    else this.#digits?.promptEnded()
  }

  digit(digit: string): void {
    if (!this.#digits) return
    if (this.#speech?.speaking && this.#options.terminators?.includes(digit)) {
      this.#speech.end()
      return
    }
    // A key is meant, which a sound may not be: so speech that has begun gives way to it.
    this.#speech?.stop()
    this.#digits.digit(digit)
  }

  #begin(): void {
    const { finalTimeoutMs } = this.#options
    if (finalTimeoutMs === undefined || this.#over) return
    this.#final ??= this.#clock.after(finalTimeoutMs, () => {
      if (this.#speech && !this.#speech.over) this.#speech.end()
      else this.#digits?.end()
    })
  }

  /** Gives up; {@link result} never settles then. */
  stop(): void {
    this.#final?.cancel()
    this.#final = undefined
    this.#over = true
    this.#digits?.stop()
    this.#speech?.stop()
  }

  async #first(): Promise<CollectResult> {
    const result = await Promise.race([this.#digits, this.#speech].flatMap((each) => each?.result ?? []))
    this.stop()
    return result
  }
}
