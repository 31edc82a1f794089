import type { CollectOptions, CollectResult } from '../../../handlers/verbs.ts'
import type { Recognition, RecognitionListener } from '../../../media/types.ts'
import type { Clock, Timer } from '../../core/clock.ts'
import { DigitCollector } from './digit-collector.ts'
import { SpeechCollector } from './speech-collector.ts'

/** What a {@link Collection} works with. */
export interface CollectionOptions {
  readonly clock: Clock
  readonly options: CollectOptions
  /** Begins to listen to the caller; asked for where the options want speech. */
  readonly recognise: (listener: RecognitionListener) => Recognition
  /** The caller has said or pressed something that stops the prompt; the end of the prompt need not be told then. */
  readonly stopPrompt: () => void
}

/**
 * Gathers digits, speech, or whichever of both comes first. While a prompt goes on that its input does not stop, no time runs out and the
 * result waits for the prompt's end.
 */
export class Collection {
  readonly result: Promise<CollectResult>
  readonly #clock: Clock
  readonly #options: CollectOptions
  readonly #stopPrompt: () => void
  /** Of the whole collection. */
  #final: Timer | undefined
  #over = false
  #timersHeld: boolean
  #told = false
  readonly #prompt = Promise.withResolvers<void>()
  readonly #ended = Promise.withResolvers<CollectResult>()
  readonly #digits: DigitCollector | undefined
  readonly #speech: SpeechCollector | undefined

  constructor({ clock, options, recognise, stopPrompt }: CollectionOptions) {
    this.#clock = clock
    this.#options = options
    this.#stopPrompt = stopPrompt
    this.#timersHeld = options.holdTimers === true
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

  /** It takes no more keys: it has its result, or was given up. */
  get isOver(): boolean {
    return this.#over || this.#digits?.isOver === true
  }

  /** Keys that end it. */
  get terminators(): string {
    return this.#options.terminators ?? ''
  }

  /** The prompt is at its end, or there is none. */
  promptEnded(): void {
    this.#prompt.resolve()
    this.#digits?.promptEnded()
    if (!this.#timersHeld) this.#startWait()
  }

  /** The waits begin now, where they do not run already. */
  startTimers(): void {
    if (!this.#timersHeld) return
    this.#timersHeld = false
    this.#startWait()
  }

  digit(digit: string): void {
    if (!this.#digits || this.#over) return
    if (this.#speech?.speaking && this.#options.terminators?.includes(digit)) {
      this.#speech.end()
      return
    }
    // A key is meant, which a sound may not be: so speech that has begun gives way to it.
    this.#speech?.stop()
    this.#digits.digit(digit)
  }

  /** Ends it with what there is, as `stopped`. */
  end(): void {
    this.#ended.resolve({ reason: 'stopped', digits: this.#digits?.digits ?? '' })
    this.close()
  }

  /** Gives up; {@link result} never settles then. */
  close(): void {
    this.#final?.cancel()
    this.#final = undefined
    this.#over = true
    this.#digits?.stop()
    this.#speech?.stop()
  }

  #startWait(): void {
    this.#begin()
    // The wait is for either, and speech that has only begun ends it.
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
    if (this.#told) return
    this.#told = true
    onInput?.(by)
  }

  #begin(): void {
    const { finalTimeoutMs } = this.#options
    if (finalTimeoutMs === undefined || this.#over) return
    this.#final ??= this.#clock.after(finalTimeoutMs, () => {
      if (this.#speech && !this.#speech.over) this.#speech.end()
      else this.#digits?.end()
    })
  }

  async #first(): Promise<CollectResult> {
    const gathered = Promise.race([this.#digits, this.#speech].flatMap((each) => each?.result ?? [])).then(
      async (result) => {
        this.close()
        // Whoever says that input does not stop the prompt wants it heard.
        if (this.#told) await this.#prompt.promise
        return result
      },
    )
    return Promise.race([gathered, this.#ended.promise])
  }
}
