import type {
  AnswerOptions,
  CallControl,
  CallInfo,
  CallRecording,
  CallStream,
  CollectOptions,
  CollectResult,
  ConnectOptions,
  ConnectResult,
  HangupReason,
  PlayOptions,
  RecordOptions,
  RecordResult,
  SpeechOptions,
  StreamOptions,
} from '../../handlers/verbs.ts'
import { CallEnded, VerbFailed } from '../../handlers/verbs.ts'
import type { MediaPort, Recogniser, Recognition, RecognitionListener } from '../../media/types.ts'
import { type Cause, codeOf } from '../errors.ts'
import { toldCaller } from './best-cause.ts'
import type { Call } from './call.ts'
import { CallRecordings } from './call-recordings.ts'
import { CallStreams, type StreamStarter } from './call-streams.ts'
import { Collection } from './collection.ts'
import { Hunt, type HuntParts } from './hunt.ts'
import { listenTo } from './listening.ts'
import type { Playing } from './player.ts'
import type { RecordingKeeper } from './recording-keeper.ts'

const hangupCause: Record<HangupReason, Cause> = {
  hangup: { code: 'normal' },
  busy: { code: 'busy' },
  decline: { code: 'declined' },
}

/** What the verbs work with. */
export interface ControlParts extends HuntParts {
  readonly recogniser: Recogniser
  /** Of what the recogniser gets, in Hz. */
  readonly recogniserRate: 8000 | 16000
  readonly streams: StreamStarter
  readonly recordings: RecordingKeeper
}

/** The one implementation of the verbs. */
export class Control implements CallControl {
  readonly #parts: ControlParts
  readonly #call: Call
  readonly #streams: CallStreams
  readonly #recordings: CallRecordings
  /** Why the last {@link connect} failed: the status that an unanswered call is refused with at the document's end. */
  #failure: Cause | undefined

  constructor(parts: ControlParts, call: Call) {
    this.#parts = parts
    this.#call = call
    this.#streams = new CallStreams(parts.streams, call)
    this.#recordings = new CallRecordings(parts.recordings, call)
  }

  get info(): CallInfo {
    return this.#call.info
  }

  get signal(): AbortSignal {
    return this.#call.signal
  }

  get answered(): boolean {
    return this.#call.caller.isAnswered
  }

  /** How the call ends when its document is at its end. */
  get closingCause(): Cause {
    return this.answered || !this.#failure ? { code: 'normal' } : toldCaller(this.#failure)
  }

  async answer(options: AnswerOptions = {}): Promise<void> {
    this.#up()
    if (options.maxDurationMs !== undefined) this.#call.limit(options.maxDurationMs)
    await this.#call.whileUp(this.#call.caller.answer())
  }

  async play(options: PlayOptions): Promise<void> {
    this.#up()
    const playing = await this.#start(options)
    try {
      await this.#call.whileUp(playing.done.catch((error) => this.#fail('play', error)))
    } finally {
      playing.stop()
    }
  }

  async collect(options: CollectOptions): Promise<CollectResult> {
    this.#up()
    const prompt = options.prompt && (await this.#start(options.prompt))
    if (!prompt) await this.#openAudio(true)
    const collector = new Collection({
      clock: this.#parts.clock,
      options,
      recognise: (listener) => this.#recognise(options.speech ?? {}, listener),
      onInput: () => prompt?.stop(),
    })
    this.#call.listen(collector)
    try {
      const prompted = (prompt?.done ?? Promise.resolve()).then(
        () => collector.promptEnded(),
        (error) => this.#fail('prompt', error),
      )
      // The prompt's failure ends the verb; its end does not.
      const failed = prompted.then(() => new Promise<never>(() => {}))
      return await this.#call.whileUp(Promise.race([collector.result, failed]))
    } finally {
      this.#call.listen(undefined)
      collector.stop()
      prompt?.stop()
    }
  }

  async connect(options: ConnectOptions): Promise<ConnectResult> {
    this.#up()
    const { result, cause } = await new Hunt(this.#parts, this.#call, options).run()
    this.#failure = cause
    return result
  }

  async startStream(options: StreamOptions): Promise<CallStream> {
    this.#up()
    await this.#openAudio(true)
    return this.#streams.start(this.#port, options)
  }

  stopStream(name: string): boolean {
    return this.#streams.stop(name)
  }

  async record(options: RecordOptions): Promise<RecordResult> {
    return (await this.startRecording(options)).ended
  }

  async startRecording(options: RecordOptions): Promise<CallRecording> {
    this.#up()
    await this.#openAudio(true)
    return this.#recordings.start(this.#port, options)
  }

  async sendDigits(digits: string): Promise<void> {
    this.#up()
    if (!/^[0-9*#A-DwW]+$/.test(digits)) {
      throw new VerbFailed(
        'invalid_digits',
        `digits: expected 0-9 * # A-D w W, found ${JSON.stringify(digits)}`,
      )
    }
    await this.#openAudio(true)
    await this.#call.whileUp(this.#call.caller.sendDigits(digits))
  }

  async sleep(ms: number): Promise<void> {
    this.#up()
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = this.#parts.clock.after(ms, resolve)
    try {
      await this.#call.whileUp(promise)
    } finally {
      timer.cancel()
    }
  }

  async hangup(reason: HangupReason = 'hangup'): Promise<void> {
    this.#up()
    this.#call.end(hangupCause[reason])
  }

  get #port(): MediaPort {
    const { port } = this.#call.caller
    if (!port) throw new VerbFailed('no_audio', 'the call has no audio')
    return port
  }

  #recognise({ language, hints }: SpeechOptions, listener: RecognitionListener): Recognition {
    const { recogniser, recogniserRate, log } = this.#parts
    const request = {
      sampleRate: recogniserRate,
      ...(language !== undefined && { language }),
      ...(hints && { hints }),
    }
    return listenTo(this.#port, recogniser, request, {
      onTranscript: (transcript) => {
        try {
          listener.onTranscript(transcript)
        } catch (error) {
          log.error({ err: error }, 'who was told of a transcript failed')
        }
      },
      onFailure: (error) => {
        log.warn({ reason: error.message, language }, 'speech could not be recognised')
        listener.onFailure(error)
      },
    })
  }

  #up(): void {
    if (this.signal.aborted) throw new CallEnded()
  }

  async #openAudio(answer: boolean): Promise<void> {
    const { caller } = this.#call
    if (caller.isAnswered) return
    if (answer) await this.answer()
    else await this.#call.whileUp(caller.progress())
  }

  async #start(options: PlayOptions): Promise<Playing> {
    const { player } = this.#parts
    const { caller, signal, info } = this.#call
    const { sounds, loop, volumeDb } = options
    const customer = info.projectId
    const warn = (reason: string) =>
      this.#parts.log.warn({ reason }, 'a sound is not played as it was asked for')
    const first = player.prepareFirst(sounds, { port: caller.port, customer, signal, warn })
    try {
      // Better a moment more of ringing than silence after the answer. A sound that fails is told by the playing.
      if (!this.answered) await this.#call.whileUp(Promise.allSettled([first?.prompt]))
      else first?.prompt.catch(() => {})
      await this.#openAudio(options.autoAnswer ?? true)
      return player.start(this.#port, sounds, { loop, volumeDb, customer, warn, ...(first && { first }) })
    } catch (error) {
      first?.giveUp()
      throw error
    }
  }

  #fail(verb: string, error: unknown): never {
    const message = error instanceof Error ? error.message : String(error)
    this.#parts.log.warn({ code: codeOf(error), verb, reason: message }, 'a verb failed')
    throw new VerbFailed(codeOf(error), message, error)
  }
}
