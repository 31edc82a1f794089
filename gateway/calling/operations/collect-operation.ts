import type { CallCollection, CollectOptions, CollectResult } from '../../../handlers/verbs.ts'
import { type Fields, textOf } from './command-fields.ts'
import { type ClientQuirks, failureCode, isOver, type OperationCall } from './operation-types.ts'
import { readPlay } from './play-request.ts'
import { VerbOperation } from './verb-operation.ts'

/** Options of a collection, and of its events. */
export interface CollectRequest {
  readonly options: CollectOptions
  readonly reportsPartial: boolean
  readonly reportsStart: boolean
  /** Repeats the collection until it is stopped. */
  readonly isContinuous: boolean
}

const defaultInitialMs = 4_000
/** Minimum wait of each repeated collection, in ms. */
const minRepeatMs = 1_000
/** Reasons that end a repeated collection: a stop, or another collection in its place. */
const lastReasons: ReadonlySet<CollectResult['reason']> = new Set(['stopped', 'error'])
const maxDigitsAllowed = 1_000
const maxHints = 100

/**
 * Reads `calling.collect`. Its timers wait for `calling.collect.start_input_timers`, unless
 * `start_input_timers` is true.
 */
export const readCollect = (params: Fields): CollectRequest => {
  const continuous = params.flag('continuous') ?? false
  const input = readInput(params)
  const initialTimeoutMs = Math.max(input.initialTimeoutMs ?? 0, continuous ? minRepeatMs : 0)
  return {
    options: { ...input, initialTimeoutMs, holdTimers: params.flag('start_input_timers') !== true },
    reportsPartial: params.flag('partial_results') ?? false,
    reportsStart: params.flag('send_start_of_input') ?? false,
    isContinuous: continuous,
  }
}

/** Reads `calling.play_and_collect`: a prompt, and `collect`. */
export const readPrompt = (params: Fields): CollectRequest => {
  const collect = params.fields('collect')
  if (!collect) throw params.wrong('collect', 'an object')
  return {
    options: { ...readInput(collect), prompt: readPlay(params) },
    reportsPartial: collect.flag('partial_results') ?? false,
    reportsStart: false,
    isContinuous: false,
  }
}

const readInput = (params: Fields): CollectOptions => {
  const digits = params.fields('digits')
  const speech = params.fields('speech')
  if (!digits && !speech) throw params.wrong('digits', 'an object, here or in speech')
  const initialTimeoutMs = params.seconds('initial_timeout') ?? defaultInitialMs
  return { initialTimeoutMs, digits: digits !== undefined, ...readDigits(digits), ...readSpeech(speech) }
}

const readDigits = (digits: Fields | undefined): CollectOptions => {
  const maxDigits = digits?.integer('max', 1, maxDigitsAllowed)
  const interDigitTimeoutMs = digits?.seconds('digit_timeout')
  const terminators = digits?.raw('terminators') === '' ? undefined : digits?.text('terminators')
  return {
    ...(maxDigits !== undefined && { maxDigits }),
    ...(interDigitTimeoutMs !== undefined && { interDigitTimeoutMs }),
    ...(terminators !== undefined && { terminators }),
  }
}

const readSpeech = (speech: Fields | undefined): CollectOptions => {
  if (!speech) return {}
  const language = speech.text('language')
  const endSilenceMs = speech.seconds('end_silence_timeout')
  const maxSpeechMs = speech.seconds('speech_timeout')
  return {
    speech: {
      hints: speech.list('hints', maxHints, (hint, path) => textOf(hint, path).slice(0, 200)),
      ...(language !== undefined && { language }),
      ...(endSilenceMs !== undefined && { endSilenceMs }),
      ...(maxSpeechMs !== undefined && { maxSpeechMs }),
    },
  }
}

/** Result in an event. */
type WireResult = Readonly<{ type: string; params?: Readonly<Record<string, unknown>> }>

const emptyDigits: WireResult = { type: 'digit', params: { digits: '', terminator: '' } }

/** `calling.collect` and `calling.play_and_collect`. */
export class CollectOperation extends VerbOperation<CallCollection> {
  readonly kind: 'collect' | 'play_and_collect'
  readonly #request: CollectRequest
  readonly #quirks: ClientQuirks
  /** Settles after the events of the prompt. */
  #prompt: Promise<void> | undefined

  constructor(call: OperationCall, id: string, request: CollectRequest, quirks: ClientQuirks) {
    super(call, id)
    this.kind = request.options.prompt ? 'play_and_collect' : 'collect'
    this.#request = request
    this.#quirks = quirks
  }

  async run(): Promise<void> {
    const result = await this.#collected()
    await this.#prompt
    this.#finished(result)
  }

  async #collected(): Promise<WireResult> {
    if (this.abort.signal.aborted) return { type: 'no_input' }
    try {
      let result = await this.#once()
      const { signal } = this.abort
      while (this.#request.isContinuous && !signal.aborted && !lastReasons.has(result.reason)) {
        if (result.reason !== 'no-input') this.#send('collecting', wireOf(result), true)
        result = await this.#once()
      }
      return wireOf(result)
    } catch (error) {
      if (isOver(error, this.abort.signal)) return { type: 'no_input' }
      return { type: 'error', params: { code: failureCode(error) } }
    }
  }

  override stop(): void {
    super.stop()
    this.withRunning((collection) => collection.stop())
  }

  setVolume(db: number): void {
    this.withRunning((collection) => collection.prompt?.setVolume(db))
  }

  startTimers(): void {
    this.withRunning((collection) => collection.startTimers())
  }

  async #once(): Promise<CollectResult> {
    this.running = this.call.control.startCollect(this.#options())
    const collection = await this.running
    this.#prompt = this.#reportPrompt(collection)
    return collection.result
  }

  #options(): CollectOptions {
    const { options, reportsPartial, reportsStart } = this.#request
    const { speech } = options
    const onPartial = (text: string) => this.#send('collecting', { type: 'speech', params: { text } }, false)
    const onDigits = (digits: string) => this.#send('collecting', digit(digits), false)
    const onInput = (by: string) => this.#send('collecting', { type: 'start_of_input', params: { type: by } })
    return {
      ...options,
      ...(speech && reportsPartial && { speech: { ...speech, onPartial } }),
      ...(reportsPartial && { onDigits }),
      ...(reportsStart && { onInput }),
    }
  }

  async #reportPrompt({ prompt }: CallCollection): Promise<void> {
    if (!prompt) return
    const report = (state: string) => this.sendEvent('play', { state })
    report('playing')
    const end = await prompt.ended
    report(end.kind === 'failed' ? 'error' : 'finished')
  }

  #finished(result: WireResult): void {
    const isSilent = result.type !== 'digit' && result.type !== 'speech'
    this.#send('finished', isSilent && this.#quirks.reportsSuccessOnly ? emptyDigits : result, true)
  }

  #send(state: 'collecting' | 'finished', result: WireResult, final?: boolean): void {
    this.sendEvent('collect', { state, result, ...(final !== undefined && { final }) })
  }
}

const digit = (digits: string, terminator = ''): WireResult => ({
  type: 'digit',
  params: { digits, terminator },
})

const wireOf = ({ reason, digits, terminator, speech }: CollectResult): WireResult => {
  if (reason === 'error') return { type: 'error' }
  if (reason === 'no-input') return { type: 'no_input' }
  if (reason === 'stopped' && digits === '') return { type: 'no_input' }
  if (!speech) return digit(digits, terminator)
  const { text, confidence } = speech
  // The confidence is in per cent, if known.
  return {
    type: 'speech',
    params: { text, ...(confidence !== undefined && { confidence: confidence * 100 }) },
  }
}
