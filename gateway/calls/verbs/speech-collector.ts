import type { CollectOptions, CollectResult, SpeechOptions } from '../../../handlers/verbs.ts'
import type { Recognition, RecognitionListener, Transcript } from '../../../media/types.ts'
import type { Clock, Timer } from '../../core/clock.ts'

const firstMs = 5_000
const silenceMs = 1_000
const longestMs = 60_000

/** What a {@link SpeechCollector} works with. */
export interface SpeechCollectorOptions {
  readonly clock: Clock
  readonly options: CollectOptions & { readonly speech: SpeechOptions }
  /** Begins to listen. The listener is not called before this has returned. */
  readonly recognise: (listener: RecognitionListener) => Recognition
  /** The caller begins to speak; told once. */
  readonly onStart: () => void
}

/**
 * Gathers one utterance. It begins with the first transcript that is not empty, and ends with the recogniser's final one, or with a silence
 * (as the options say); what is still on its way then is waited for. The wait for its beginning starts with {@link promptEnded}. A
 * recogniser that fails ends it with what was understood before; with nothing understood as `error`, at once where speech is all that is
 * collected, else when the wait is over.
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
  /** The wait for the beginning has begun, or would have. */
  #waits = false
  #failed = false
  /** Of the beginning while it is waited for, then of silence. */
  #timer: Timer | undefined
  #longest: Timer | undefined

  constructor(parts: SpeechCollectorOptions) {
    this.#parts = parts
    const { promise, resolve } = Promise.withResolvers<CollectResult>()
    this.result = promise
    this.#settle = resolve
    this.#recognition = parts.recognise(this)
  }

  /** The caller has begun to speak, and it is not over. */
  get speaking(): boolean {
    return this.#state === 'speaking'
  }

  /** It has its result, or was given up. */
  get over(): boolean {
    return this.#state === 'over'
  }

  /** The prompt is at its end, or there is none: the wait begins. */
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

  /** No more is to be said: waits for what is on its way, and settles. */
  end(): void {
    if (this.#state === 'ending' || this.#state === 'over') return
    this.#state = 'ending'
    this.#timer?.cancel()
    this.#longest?.cancel()
    if (this.#failed) this.#finish()
    else void this.#recognition.end().then(() => this.#finish())
  }

  /** Gives up; {@link result} never settles then. */
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
    // Of all that is taken for speech, so that a noise which is taken back again and again comes to its end too.
    this.#longest ??= clock.after(maxSpeechMs, () => this.end())
    // Before anybody is told, so that it comes to its end whatever they do.
    this.#wait(endSilenceMs ?? silenceMs)
    onPartial?.(this.#text)
    if (utterance && endSilenceMs === undefined) this.#finish()
  }

  /** What seemed to be speech was none: the wait begins again, where it had begun. */
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

  /** Mean of what was told. */
  get #confidence(): { confidence: number } | undefined {
    const told = this.#finals.flatMap(({ confidence }) => confidence ?? [])
    if (told.length === 0) return undefined
    return { confidence: told.reduce((sum, each) => sum + each, 0) / told.length }
  }
}
