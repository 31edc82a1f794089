import type { CollectOptions, CollectResult, SpeechOptions } from '../../../handlers/verbs.ts'
import type { Recognition, RecognitionListener, Transcript } from '../../../media/types.ts'
import type { Clock, Timer } from '../../core/clock.ts'

const firstMs = 5_000
const silenceMs = 1_000
const longestMs = 60_000

/** Collaborators and options of a {@link SpeechCollector}. */
export interface SpeechCollectorOptions {
  readonly clock: Clock
  readonly options: CollectOptions & { readonly speech: SpeechOptions }
  /** Starts recognition. Does not call the listener before it returns. */
  readonly recognise: (listener: RecognitionListener) => Recognition
  /** Called once when the caller begins to speak. */
  readonly onStart: () => void
}

/**
 * Collects one utterance. It begins with the first transcript that is not empty. It ends with the
 * recogniser's final transcript or with a silence, by the options, and then waits for pending transcripts.
 * The wait for its beginning starts with {@link promptEnded}.
 * A recogniser that fails ends it with the text so far. Without any text the reason is `error`: at once if
 * only speech is collected, else at the end of the wait.
 */
export class SpeechCollector implements RecognitionListener {
  readonly result: Promise<CollectResult>
  readonly #parts: SpeechCollectorOptions
  readonly #settle: (result: CollectResult) => void
  readonly #recognition: Recognition
  #state: 'waiting' | 'speaking' | 'ending' | 'over' = 'waiting'
  #finals: Transcript[] = []
  #partial = ''
  #barged = false
  /** Whether the wait for the beginning has started. */
  #waits = false
  #failed = false
  /** Timer of the beginning, and then of silence. */
  #timer: Timer | undefined
  #longest: Timer | undefined

  constructor(parts: SpeechCollectorOptions) {
    this.#parts = parts
    const { promise, resolve } = Promise.withResolvers<CollectResult>()
    this.result = promise
    this.#settle = resolve
    this.#recognition = parts.recognise(this)
  }

  /** Whether the caller is speaking. */
  get speaking(): boolean {
    return this.#state === 'speaking'
  }

  /** Whether it has its result or was canceled. */
  get over(): boolean {
    return this.#state === 'over'
  }

  /** Reports the end of the prompt, or that there is no prompt: the wait starts. */
  promptEnded(): void {
    this.#waits = true
    if (this.#state === 'waiting') this.#wait(this.#parts.options.initialTimeoutMs ?? firstMs)
  }

  onTranscript({ text, isFinal: final, confidence }: Transcript): void {
    const said = text.trim()
    if (this.#state === 'over') return
    const changed = said !== this.#partial || final
    this.#partial = final ? '' : said
    if (final && said !== '')
      this.#finals.push({ text: said, isFinal: final, ...(confidence !== undefined && { confidence }) })
    if (this.#state === 'ending' || !changed) return
    if (this.#text === '') this.#takenBack()
    else this.#heard(final && said !== '')
  }

  onFailure(): void {
    if (this.#state === 'over') return
    this.#failed = true
    if (this.#state !== 'waiting' || this.#parts.options.digits === false) this.#finish()
  }

  /** Ends the input: waits for pending transcripts, and settles. */
  end(): void {
    if (this.#state === 'ending' || this.#state === 'over') return
    this.#state = 'ending'
    this.#timer?.cancel()
    this.#longest?.cancel()
    if (this.#failed) this.#finish()
    else void this.#recognition.end().then(() => this.#finish())
  }

  /** Cancels it; {@link result} never settles then. */
  stop(): void {
    this.#state = 'over'
    this.#timer?.cancel()
    this.#longest?.cancel()
    this.#recognition.close()
  }

  get #text(): string {
    return [...this.#finals.map(({ text }) => text), this.#partial].filter((text) => text !== '').join(' ')
  }

  #heard(utterance: boolean): void {
    const { clock, options, onStart } = this.#parts
    const { endSilenceMs, maxSpeechMs = longestMs, onPartial } = options.speech
    this.#state = 'speaking'
    if (!this.#barged) onStart()
    this.#barged = true
    // Covers all supposed speech, so that repeated false starts end, too.
    this.#longest ??= clock.after(maxSpeechMs, () => this.end())
    // Set before the callbacks, so that it ends whatever they do.
    this.#wait(endSilenceMs ?? silenceMs)
    onPartial?.(this.#text)
    if (utterance && endSilenceMs === undefined) this.#finish()
  }

  /** Handles a false start: the wait starts again, if it had started. */
  #takenBack(): void {
    if (this.#state !== 'speaking') return
    this.#state = 'waiting'
    this.#timer?.cancel()
    if (this.#waits) this.promptEnded()
  }

  #wait(ms: number): void {
    this.#timer?.cancel()
    this.#timer = this.#parts.clock.after(ms, () => this.end())
  }

  #finish(): void {
    if (this.#state === 'over') return
    this.stop()
    const text = this.#text
    if (text !== '') this.#settle({ reason: 'speech', digits: '', speech: { text, ...this.#confidence } })
    else this.#settle({ reason: this.#failed ? 'error' : 'no-input', digits: '' })
  }

  /** Mean of the known values. */
  get #confidence(): { confidence: number } | undefined {
    const known = this.#finals.flatMap(({ confidence }) => confidence ?? [])
    if (known.length === 0) return undefined
    return { confidence: known.reduce((sum, each) => sum + each, 0) / known.length }
  }
}
