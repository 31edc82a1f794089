import type { CollectOptions, CollectResult, SpeechOptions } from '../../../handlers/verbs.ts'
import type { Recognition, RecognitionListener, Transcript } from '../../../media/types.ts'
import type { Clock, Timer } from '../../core/clock.ts'

const defaultInitialTimeoutMs = 5_000
const defaultEndSilenceMs = 1_000
const defaultMaxSpeechMs = 60_000

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
 * Collects one utterance. The utterance begins with the first transcript that is not empty. Depending on the
 * options, it ends with the recogniser's final transcript or with a silence. The result then waits for
 * pending transcripts. The wait for its beginning starts with {@link promptEnded}. A failure of the
 * recogniser ends the collection with the text so far. Without any text the reason is `error`: at once if
 * only speech is collected, else at the end of the wait.
 */
export class SpeechCollector implements RecognitionListener {
  readonly result: Promise<CollectResult>
  readonly #deps: SpeechCollectorOptions
  readonly #settle: (result: CollectResult) => void
  readonly #recognition: Recognition
  #state: 'waiting' | 'speaking' | 'ending' | 'over' = 'waiting'
  #finals: Transcript[] = []
  #partial = ''
  #hasStarted = false
  /** Whether the wait for the beginning has started. */
  #isWaitStarted = false
  #hasFailed = false
  /** Timer of the beginning, and then of silence. */
  #timer: Timer | undefined
  #maxTimer: Timer | undefined

  constructor(deps: SpeechCollectorOptions) {
    this.#deps = deps
    const { promise, resolve } = Promise.withResolvers<CollectResult>()
    this.result = promise
    this.#settle = resolve
    this.#recognition = deps.recognise(this)
  }

  /** Whether the caller is speaking. */
  get isSpeaking(): boolean {
    return this.#state === 'speaking'
  }

  /** Whether the collection has its result or was cancelled. */
  get isOver(): boolean {
    return this.#state === 'over'
  }

  /** Reports the end of the prompt, or that there is no prompt: the wait starts. */
  promptEnded(): void {
    this.#isWaitStarted = true
    if (this.#state === 'waiting') this.#wait(this.#deps.options.initialTimeoutMs ?? defaultInitialTimeoutMs)
  }

  onTranscript({ text, isFinal: final, confidence }: Transcript): void {
    const spoken = text.trim()
    if (this.#state === 'over') return
    const isChanged = spoken !== this.#partial || final
    this.#partial = final ? '' : spoken
    if (final && spoken !== '')
      this.#finals.push({ text: spoken, isFinal: final, ...(confidence !== undefined && { confidence }) })
    if (this.#state === 'ending' || !isChanged) return
    if (this.#text === '') this.#onFalseStart()
    else this.#onSpeech(final && spoken !== '')
  }

  onFailure(): void {
    if (this.#state === 'over') return
    this.#hasFailed = true
    if (this.#state !== 'waiting' || this.#deps.options.digits === false) this.#finish()
  }

  /** Ends the input: waits for pending transcripts, and settles. */
  end(): void {
    if (this.#state === 'ending' || this.#state === 'over') return
    this.#state = 'ending'
    this.#timer?.cancel()
    this.#maxTimer?.cancel()
    if (this.#hasFailed) this.#finish()
    else void this.#recognition.end().then(() => this.#finish())
  }

  /** Cancels the collection; {@link result} never settles then. */
  stop(): void {
    this.#state = 'over'
    this.#timer?.cancel()
    this.#maxTimer?.cancel()
    this.#recognition.close()
  }

  get #text(): string {
    return [...this.#finals.map(({ text }) => text), this.#partial].filter((text) => text !== '').join(' ')
  }

  #onSpeech(isUtterance: boolean): void {
    const { clock, options, onStart } = this.#deps
    const { endSilenceMs, maxSpeechMs = defaultMaxSpeechMs, onPartial } = options.speech
    this.#state = 'speaking'
    if (!this.#hasStarted) onStart()
    this.#hasStarted = true
    // The limit covers repeated false starts, too.
    this.#maxTimer ??= clock.after(maxSpeechMs, () => this.end())
    // The timer is set before the callbacks, so that the collection ends even if a callback fails.
    this.#wait(endSilenceMs ?? defaultEndSilenceMs)
    onPartial?.(this.#text)
    if (isUtterance && endSilenceMs === undefined) this.#finish()
  }

  /** Handles a false start: the wait starts again, if it had started. */
  #onFalseStart(): void {
    if (this.#state !== 'speaking') return
    this.#state = 'waiting'
    this.#timer?.cancel()
    if (this.#isWaitStarted) this.promptEnded()
  }

  #wait(ms: number): void {
    this.#timer?.cancel()
    this.#timer = this.#deps.clock.after(ms, () => this.end())
  }

  #finish(): void {
    if (this.#state === 'over') return
    this.stop()
    const text = this.#text
    if (text !== '') this.#settle({ reason: 'speech', digits: '', speech: { text, ...this.#confidence } })
    else this.#settle({ reason: this.#hasFailed ? 'error' : 'no-input', digits: '' })
  }

  /** Mean of the known values. */
  get #confidence(): { confidence: number } | undefined {
    const confidences = this.#finals.flatMap(({ confidence }) => confidence ?? [])
    if (confidences.length === 0) return undefined
    return { confidence: confidences.reduce((sum, each) => sum + each, 0) / confidences.length }
  }
}
