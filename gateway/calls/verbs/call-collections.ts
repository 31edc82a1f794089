import type { CallCollection, CallPlayback, CollectOptions, CollectResult } from '../../../handlers/verbs.ts'
import type { Recogniser, Recognition, RecognitionListener } from '../../../media/types.ts'
import type { Clock } from '../../core/clock.ts'
import { guarded } from '../../core/guarded.ts'
import type { Log } from '../../core/log.ts'
import type { Call } from '../call/call.ts'
import { verbFailed } from '../leg/failures.ts'
import type { CallPlaybacks } from './call-playbacks.ts'
import { Collection } from './collection.ts'
import { listenTo } from './port-recognition.ts'

/** Keys that are kept for the next collection. */
const maxTypedAhead = 32

/** What collections work with. */
export interface CallCollectionsDeps {
  readonly clock: Clock
  readonly log: Log
  readonly recogniser: Recogniser
  /** Of what the recogniser gets, in Hz. */
  readonly recogniserRate: 8000 | 16000
}

/** What is collected from one call's caller: one collection at a time, and the keys that were pressed before it. */
export class CallCollections {
  #parts: CallCollectionsDeps
  #call: Call
  #playbacks: CallPlaybacks
  #current: Collection | undefined
  /** Typed ahead. */
  #keys = ''
  /** Terminators that say nothing if one of them is the next key: they were meant for a collection that had all its digits. */
  #belated = ''

  constructor(parts: CallCollectionsDeps, call: Call, playbacks: CallPlaybacks) {
    this.#parts = parts
    this.#call = call
    this.#playbacks = playbacks
    call.onDigit((digit) => this.#pressed(digit))
  }

  /** Forgets the keys that were pressed so far. */
  forgetKeys(): void {
    this.#keys = ''
  }

  /** Begins. Rejects when the call ends first, or the signal fires. */
  async start(id: string, options: CollectOptions): Promise<CallCollection> {
    this.#current?.end()
    if (options.typeAhead === false || options.digits === false) this.forgetKeys()
    const prompt = await this.#prompt(id, options)
    this.#current?.end()
    const collection = new Collection({
      clock: this.#parts.clock,
      options: this.#guarded(options),
      recognise: (listener) => this.#recognise(options, listener),
      stopPrompt: () => prompt?.stop(),
    })
    this.#current = collection
    this.#takeKeys()
    const result = this.#run(collection, prompt, options.signal)
    result.catch(() => {})
    return {
      id,
      result,
      ...(prompt && { prompt }),
      startTimers: () => collection.startTimers(),
      stop: () => collection.end(),
    }
  }

  /** The prompt, begun; none where keys are there already that would stop it. */
  async #prompt(id: string, options: CollectOptions): Promise<CallPlayback | undefined> {
    const { prompt, signal, bargeIn = 'both' } = options
    const known = this.#keys !== '' && (bargeIn === 'both' || bargeIn === 'digits')
    if (prompt && !known) return this.#playbacks.start(id, { ...prompt, ...(signal && { signal }) })
    await this.#call.openAudio(prompt?.autoAnswer ?? true, signal)
    return undefined
  }

  async #run(
    collection: Collection,
    prompt: CallPlayback | undefined,
    signal: AbortSignal | undefined,
  ): Promise<CollectResult> {
    try {
      const work = prompt
        ? Promise.race([collection.result, prompted(collection, prompt)])
        : collection.result
      if (!prompt) collection.promptEnded()
      return await this.#call.whileUp(work, signal)
    } finally {
      if (this.#current === collection) this.#current = undefined
      collection.close()
      prompt?.stop()
    }
  }

  #pressed(digit: string): void {
    if (this.#current && !this.#current.isOver) {
      this.#give(this.#current, digit)
      return
    }
    const wanted = !this.#belated.includes(digit)
    this.#belated = ''
    // Keys for somebody else are no answer to what is asked later.
    if (wanted && !this.#call.hasCallerListener) this.#keys = (this.#keys + digit).slice(-maxTypedAhead)
  }

  /** Gives the collection the keys that were typed ahead; what it does not take is left for the next one. */
  #takeKeys(): void {
    const keys = this.#keys
    this.#keys = ''
    this.#belated = ''
    for (const key of keys) this.#pressed(key)
  }

  #give(collection: Collection, digit: string): void {
    collection.digit(digit)
    const { terminators } = collection
    if (collection.isOver && !terminators.includes(digit)) this.#belated = terminators
  }

  /** The options, with listeners that cannot harm the collection. */
  #guarded(options: CollectOptions): CollectOptions {
    const { log } = this.#parts
    const { onInput, onDigits, speech } = options
    const { onPartial } = speech ?? {}
    return {
      ...options,
      ...(onInput && { onInput: guarded(onInput, log) }),
      ...(onDigits && { onDigits: guarded(onDigits, log) }),
      ...(speech && onPartial && { speech: { ...speech, onPartial: guarded(onPartial, log) } }),
    }
  }

  #recognise({ speech = {} }: CollectOptions, listener: RecognitionListener): Recognition {
    const { recogniser, recogniserRate, log } = this.#parts
    const { language, hints } = speech
    const { port } = this.#call.caller
    if (!port) throw verbFailed('no_audio')
    const request = {
      sampleRate: recogniserRate,
      ...(language !== undefined && { language }),
      ...(hints && { hints }),
    }
    return listenTo(port, recogniser, request, {
      onTranscript: (transcript) => listener.onTranscript(transcript),
      onFailure: (error) => {
        log.warn({ reason: error.message, language }, 'speech could not be recognised')
        listener.onFailure(error)
      },
    })
  }
}

/** Waits for the prompt: its failure is the collection's, its end is not. */
const prompted = async (collection: Collection, prompt: CallPlayback): Promise<never> => {
  const end = await prompt.ended
  if (end.kind === 'failed') throw verbFailed('sound_failed', end.reason)
  collection.promptEnded()
  return new Promise<never>(() => {})
}
