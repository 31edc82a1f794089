import type { CallCollection, CallPlayback, CollectOptions, CollectResult } from '../../../handlers/verbs.ts'
import type { Recognition, RecognitionListener } from '../../../media/types.ts'
import type { Clock } from '../../core/clock.ts'
import { guardListener } from '../../core/guard.ts'
import type { Call } from '../call/call.ts'
import { verbFailed } from '../leg/failures.ts'
import type { Speech } from './call-controller-deps.ts'
import type { CallPlaybacks } from './call-playbacks.ts'
import { Collection } from './collection.ts'
import { listenTo } from './port-recognition.ts'

/** Maximum number of keys that are kept for the next collection. */
const maxTypedAhead = 32

/** Collections of one call's caller, one at a time, and the keys that were pressed before them. */
export class CallCollections {
  #speech: Speech
  #clock: Clock
  #call: Call
  #playbacks: CallPlaybacks
  #current: Collection | undefined
  /** Keys typed ahead. */
  #keys = ''
  /**
   * Terminators of the last collection if it ended with its last digit. If the next key is a terminator, it
   * is ignored.
   */
  #lateTerminators = ''

  constructor(speech: Speech, clock: Clock, call: Call, playbacks: CallPlaybacks) {
    this.#speech = speech
    this.#clock = clock
    this.#call = call
    this.#playbacks = playbacks
    call.onDigit((digit) => this.#pressed(digit))
  }

  /** Forgets the keys that were pressed so far. */
  forgetKeys(): void {
    this.#keys = ''
  }

  /** Starts a collection. Rejects if the call ends first or the signal fires. */
  async start(id: string, options: CollectOptions): Promise<CallCollection> {
    this.#current?.end()
    if (options.typeAhead === false || options.digits === false) this.forgetKeys()
    const prompt = await this.#prompt(id, options)
    this.#current?.end()
    const collection = new Collection({
      clock: this.#clock,
      options: this.#guarded(options),
      recognise: (listener) => this.#recognise(options, listener),
      stopPrompt: () => prompt?.stop(),
    })
    this.#current = collection
    this.#passKeys()
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

  /** Starts the prompt. Skips it if keys were typed ahead that would stop it. */
  async #prompt(id: string, options: CollectOptions): Promise<CallPlayback | undefined> {
    const { prompt, signal, bargeIn = 'both' } = options
    const isTyped = this.#keys !== '' && (bargeIn === 'both' || bargeIn === 'digits')
    if (prompt && !isTyped) return this.#playbacks.start(id, { ...prompt, ...(signal && { signal }) })
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
      this.#pass(this.#current, digit)
      return
    }
    const isWanted = !this.#lateTerminators.includes(digit)
    this.#lateTerminators = ''
    // Keys for another party do not count for a later collection.
    if (isWanted && !this.#call.hasCallerListener) this.#keys = (this.#keys + digit).slice(-maxTypedAhead)
  }

  /** Passes the keys typed ahead to the collection. The next collection gets the rest. */
  #passKeys(): void {
    const keys = this.#keys
    this.#keys = ''
    this.#lateTerminators = ''
    for (const key of keys) this.#pressed(key)
  }

  #pass(collection: Collection, digit: string): void {
    collection.digit(digit)
    const { terminators } = collection
    if (collection.isOver && !terminators.includes(digit)) this.#lateTerminators = terminators
  }

  /** Guards the listeners: one that throws is logged. */
  #guarded(options: CollectOptions): CollectOptions {
    const { log } = this.#call
    const { onInput, onDigits, speech } = options
    const { onPartial } = speech ?? {}
    return {
      ...options,
      ...(onInput && { onInput: guardListener(onInput, log) }),
      ...(onDigits && { onDigits: guardListener(onDigits, log) }),
      ...(speech && onPartial && { speech: { ...speech, onPartial: guardListener(onPartial, log) } }),
    }
  }

  #recognise({ speech = {} }: CollectOptions, listener: RecognitionListener): Recognition {
    const { recogniser, sampleRate } = this.#speech
    const { language, hints } = speech
    const { port } = this.#call.caller
    if (!port) throw verbFailed('no_audio')
    const request = {
      sampleRate,
      ...(language !== undefined && { language }),
      ...(hints && { hints }),
    }
    return listenTo(port, recogniser, request, {
      onTranscript: (transcript) => listener.onTranscript(transcript),
      onFailure: (error) => {
        this.#call.log.warn(
          { event: 'call.recognition-failed', reason: error.message, language },
          'recognition failed',
        )
        listener.onFailure(error)
      },
    })
  }
}

/** Rejects if the prompt fails. Never resolves. */
const prompted = async (collection: Collection, prompt: CallPlayback): Promise<never> => {
  const end = await prompt.ended
  if (end.kind === 'failed') throw verbFailed('sound_failed', end.reason)
  collection.promptEnded()
  return new Promise<never>(() => {})
}
