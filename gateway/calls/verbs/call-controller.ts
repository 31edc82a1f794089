import {
  type AnswerOptions,
  type CallCollection,
  type CallControl,
  CallEnded,
  type CallInfo,
  type CallPlayback,
  type CallRecording,
  type CallStream,
  type Cancellable,
  type CollectOptions,
  type CollectResult,
  type ConferenceOptions,
  type ConferenceResult,
  type ConnectOptions,
  type ConnectResult,
  type DetectOptions,
  type DetectResult,
  type EchoOptions,
  type HangupReason,
  type HoldOptions,
  type PlayOptions,
  type QueueOptions,
  type QueueResult,
  type RecordOptions,
  type RecordResult,
  type ReferOptions,
  type ReferResult,
  type StreamOptions,
  type VerbEvent,
  VerbFailed,
} from '../../../handlers/verbs.ts'
import type { Cause, Code } from '../../core/errors/catalogue.ts'
import { guarded } from '../../core/guarded.ts'
import type { Call } from '../call/call.ts'
import { Hold } from '../call/hold.ts'
import { causeForCaller } from '../connect/best-cause.ts'
import { ConnectSession } from '../connect/connect-session.ts'
import { sendDigits, sendUserEvent } from '../leg/dtmf.ts'
import { unavailable, verbFailed } from '../leg/failures.ts'
import { CallCollections } from './call-collections.ts'
import type { CallControllerDeps } from './call-controller-deps.ts'
import { CallPlaybacks } from './call-playbacks.ts'
import { CallRecordings } from './call-recordings.ts'
import { refer } from './call-refer.ts'
import { CallStreams } from './call-streams.ts'
import { echo } from './echo.ts'
import { VerbLog } from './verb-log.ts'

/** With what an unanswered call is refused. */
const refusals: Readonly<Record<HangupReason, Code>> = {
  hangup: 'normal',
  busy: 'busy',
  decline: 'declined',
  'no-answer': 'no_answer',
  error: 'handler_failed',
}

/** The one implementation of the verbs: a call as its handler drives it. */
export class CallController implements CallControl {
  readonly #parts: CallControllerDeps
  readonly #call: Call
  readonly #ledger: VerbLog
  readonly #playbacks: CallPlaybacks
  readonly #collections: CallCollections
  readonly #streams: CallStreams
  readonly #recordings: CallRecordings
  readonly #hold: Hold
  /** Why the last {@link connect} failed: the status that an unanswered call is refused with at the document's end. */
  #failure: Cause | undefined
  /** Failure of the gateway itself that ended the last {@link connect}: the call ends for it, too. */
  #fault: Cause | undefined

  constructor(parts: CallControllerDeps, call: Call) {
    this.#parts = parts
    this.#call = call
    this.#ledger = new VerbLog(parts, call.signal)
    this.#playbacks = new CallPlaybacks(parts, call)
    this.#collections = new CallCollections(parts, call, this.#playbacks)
    this.#streams = new CallStreams(parts.streams, call)
    this.#recordings = new CallRecordings(parts.recordings, call)
    this.#hold = new Hold(parts, call)
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
    if (this.answered) return this.#fault ?? { code: 'normal' }
    return this.#failure ? causeForCaller(this.#failure) : { code: 'normal' }
  }

  onVerb(listener: (event: VerbEvent) => void): () => void {
    return this.#ledger.listen(listener)
  }

  onDigit(listener: (digit: string) => void): () => void {
    return this.#call.onDigit(guarded(listener, this.#parts.log))
  }

  answer(options: AnswerOptions = {}): Promise<void> {
    return this.#ledger.run('answer', async () => {
      if (options.maxDurationMs !== undefined) this.#call.limitDuration(options.maxDurationMs)
      await this.#call.whileUp(this.#call.caller.answer(options.codecs))
      const codec = this.#call.caller.port?.codec
      if (codec && options.codecs?.includes(codec) === false)
        this.#parts.log.warn({ codec, wanted: options.codecs }, 'the audio was open already: its codec stays')
    })
  }

  ring(): Promise<void> {
    return this.#ledger.run('ring', async () => this.#call.caller.ring())
  }

  async play(options: PlayOptions): Promise<void> {
    const end = await (await this.startPlay(options)).ended
    if (end.kind === 'failed') throw new VerbFailed(end.code, end.reason)
    if (end.kind === 'finished') return
    if (this.signal.aborted) throw new CallEnded()
    options.signal?.throwIfAborted()
  }

  startPlay(options: PlayOptions): Promise<CallPlayback> {
    const { signal } = options
    return this.#start('play', signal, async (id) => {
      const playback = await this.#playbacks.start(id, options)
      const over = async () => {
        const end = await playback.ended
        if (end.kind === 'finished') this.#collections.forgetKeys()
        if (end.kind === 'failed') throw new VerbFailed(end.code, end.reason)
        if (end.kind === 'stopped' && this.signal.aborted) throw new CallEnded()
        signal?.throwIfAborted()
      }
      return [playback, over()]
    })
  }

  async collect(options: CollectOptions): Promise<CollectResult> {
    return (await this.startCollect(options)).result
  }

  startCollect(options: CollectOptions): Promise<CallCollection> {
    return this.#start('collect', options.signal, async (id) => {
      const collection = await this.#collections.start(id, options)
      return [collection, collection.result]
    })
  }

  connect(options: ConnectOptions): Promise<ConnectResult> {
    return this.#ledger.run('connect', async () => {
      const parts = { ...this.#parts, controlOf: (call: Call) => new CallController(this.#parts, call) }
      const hunt = new ConnectSession(parts, this.#call, options)
      const { result, cause, fault } = await this.#apart(hunt.run())
      this.#failure = cause
      this.#fault = fault
      return result
    })
  }

  joinConference(options: ConferenceOptions): Promise<ConferenceResult> {
    const { conferences } = this.#parts
    const join = () => this.#apart(conferences?.join(this.#call, this, options) ?? unavailable('conferences'))
    return this.#ledger.run('joinConference', join, options.signal)
  }

  enterQueue(options: QueueOptions): Promise<QueueResult> {
    const { queues } = this.#parts
    const enter = () => this.#apart(queues?.enter(this.#call, this, options) ?? unavailable('queues'))
    return this.#ledger.run('enterQueue', enter, options.signal)
  }

  startStream(options: StreamOptions): Promise<CallStream> {
    return this.#start('stream', undefined, async () => {
      const stream = this.#streams.start(await this.#call.openAudio(true), options)
      const over = async () => {
        const end = await stream.ended
        if (end.kind === 'failed') throw verbFailed('stream_failed', end.reason)
      }
      return [stream, over()]
    })
  }

  stopStream(name: string): boolean {
    return this.#streams.stop(name)
  }

  async record(options: RecordOptions): Promise<RecordResult> {
    return (await this.startRecording(options)).ended
  }

  startRecording(options: RecordOptions): Promise<CallRecording> {
    const { signal } = options
    return this.#start('record', signal, async () => {
      const port = await this.#call.openAudio(true, signal)
      this.#ledger.check(signal)
      const recording = this.#recordings.start(port, options)
      const stop = () => recording.stop()
      signal?.addEventListener('abort', stop, { once: true })
      const over = async () => {
        const { reason } = await recording.ended
        signal?.removeEventListener('abort', stop)
        // The key that ended it is no answer to what is asked next.
        if (reason === 'terminator') this.#collections.forgetKeys()
        if (reason === 'error') throw verbFailed('recording_failed')
      }
      return [recording, over()]
    })
  }

  echo(options: EchoOptions): Promise<void> {
    return this.#ledger.run('echo', () => echo(this.#call, options, this.#parts.clock), options.signal)
  }

  detect(options: DetectOptions): Promise<DetectResult> {
    const { detector } = this.#parts
    const detect = async () => {
      const result = await (detector?.detect(this.#call, options) ?? unavailable('detection'))
      if (result.kind === 'digit') this.#collections.forgetKeys()
      return result
    }
    return this.#ledger.run('detect', detect, options.signal)
  }

  sendDigits(digits: string, { signal }: Cancellable = {}): Promise<void> {
    return this.#ledger.run('sendDigits', () => sendDigits(this.#call, digits, signal), signal)
  }

  hold(options: HoldOptions = {}): Promise<void> {
    return this.#ledger.run('hold', () => this.#hold.begin(options))
  }

  unhold(): Promise<void> {
    return this.#ledger.run('unhold', async () => this.#hold.end())
  }

  refer(options: ReferOptions): Promise<ReferResult> {
    return this.#ledger.run('refer', () => refer(this.#call, options), options.signal)
  }

  userEvent(event: Readonly<Record<string, unknown>>): boolean {
    const use = this.#ledger.begin('userEvent')
    try {
      const told = sendUserEvent(this.#call.caller, event)
      use.end('finished')
      return told
    } catch (error) {
      this.#ledger.fail(use, error)
      throw error
    }
  }

  sleep(ms: number, { signal }: Cancellable = {}): Promise<void> {
    return this.#ledger.run('sleep', () => this.#sleep(ms, signal), signal)
  }

  hangup(reason: HangupReason = 'hangup'): Promise<void> {
    return this.#ledger.run('hangup', async () =>
      this.#call.end({ code: this.answered ? 'normal' : refusals[reason] }),
    )
  }

  /** Keys of a caller who is with others, or waits for them, are no answer to what is asked later. */
  async #apart<T>(work: Promise<T>): Promise<T> {
    try {
      return await work
    } finally {
      this.#collections.forgetKeys()
    }
  }

  async #sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = this.#parts.clock.after(ms, resolve)
    try {
      await this.#call.whileUp(promise, signal)
    } finally {
      timer.cancel()
    }
  }

  /** A verb that goes on after what it resolves with: `begin` gives that, and the promise of its end. */
  async #start<T>(
    verb: string,
    signal: AbortSignal | undefined,
    begin: (id: string) => Promise<readonly [made: T, over: Promise<unknown>]>,
  ): Promise<T> {
    const use = this.#ledger.begin(verb, signal)
    try {
      const [made, over] = await begin(use.id)
      over.then(
        () => use.end('finished'),
        (error) => this.#ledger.fail(use, error, signal),
      )
      return made
    } catch (error) {
      this.#ledger.fail(use, error, signal)
      throw error
    }
  }
}
