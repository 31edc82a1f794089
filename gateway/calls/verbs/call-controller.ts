import {
  type AgentCommands,
  type AgentOptions,
  type AgentTranscriptEvent,
  type AnswerOptions,
  type CallAgent,
  type CallCollection,
  CallEnded,
  type CallInfo,
  type CallPlayback,
  type CallRecording,
  type CallStream,
  type CallTimes,
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
  type RoomOptions,
  type RoomResult,
  type StreamOptions,
  type VerbEvent,
  VerbFailed,
} from '../../../handlers/verbs.ts'
import { type Cause, type Code, codeOf } from '../../core/errors/catalogue.ts'
import { guardListener } from '../../core/guard.ts'
import type { Call } from '../call/call.ts'
import type { ScopableControl } from '../call/scopable-control.ts'
import { causeForCaller } from '../connect/best-cause.ts'
import { ConnectSession } from '../connect/connect-session.ts'
import { unavailable } from '../leg/failures.ts'
import type { CallControllerDeps } from './call-controller-deps.ts'
import { echo } from './echo.ts'
import { beginAgent, beginRecording, beginStream, type Lasting } from './lasting-verbs.ts'
import { refer } from './refer.ts'
import { sendDigits } from './send-digits.ts'
import { sendUserEvent } from './send-user-event.ts'
import { openVerbs, type VerbState } from './verb-state.ts'

/** Codes with which an unanswered call is rejected. */
const rejections: Readonly<Record<HangupReason, Code>> = {
  hangup: 'normal',
  busy: 'busy',
  decline: 'declined',
  'no-answer': 'no_answer',
  error: 'handler_failed',
}

/** Time in ms after the removal from a room in which the end of the call has that reason. */
const maxRemovalAgeMs = 1_000

/** Limit in time of a controller's verbs, below the call's own end. */
interface VerbScope {
  /** Controller without a scope. */
  readonly whole: CallController
  readonly signal: AbortSignal
}

/** The one implementation of the verbs of a call, whole or within a scope. */
export class CallController implements ScopableControl {
  /** Fires at the end of the call or of the scope. */
  readonly signal: AbortSignal
  readonly #deps: CallControllerDeps
  readonly #call: Call
  readonly #state: VerbState
  readonly #scope: VerbScope | undefined

  constructor(deps: CallControllerDeps, call: Call, scope?: VerbScope) {
    this.#deps = deps
    this.#call = call
    this.#scope = scope
    this.#state = scope ? scope.whole.#state : openVerbs(deps, call)
    this.signal = scope ? AbortSignal.any([call.signal, scope.signal]) : call.signal
  }

  scoped(signal: AbortSignal): CallController {
    const whole = this.#scope?.whole ?? this
    const either = this.#scope ? AbortSignal.any([this.#scope.signal, signal]) : signal
    return new CallController(this.#deps, this.#call, { whole, signal: either })
  }

  get info(): CallInfo {
    return this.#call.info
  }

  get times(): CallTimes {
    return this.#call.caller.times
  }

  get isAnswered(): boolean {
    return this.#call.caller.isAnswered
  }

  /** Cause with which the call ends when its document has ended. */
  get closingCause(): Cause {
    const { refusal, fault } = this.#state
    if (this.isAnswered) return fault ?? this.#normal
    return refusal ? causeForCaller(refusal) : { code: 'normal' }
  }

  /** Normal end of an answered call. */
  get #normal(): Cause {
    const { removal } = this.#state
    const isRecent = removal !== undefined && this.#deps.clock.uptime() - removal.at <= maxRemovalAgeMs
    return { code: 'normal', ...(isRecent && { removal: removal.reason }) }
  }

  onVerb(listener: (event: VerbEvent) => void): () => void {
    return this.#untilScopeEnds(this.#state.log.listen(listener))
  }

  onDigit(listener: (digit: string) => void): () => void {
    return this.#untilScopeEnds(this.#call.onDigit(guardListener(listener, this.#call.log)))
  }

  answer(options: AnswerOptions = {}): Promise<void> {
    return this.#run('answer', async () => {
      if (options.maxDurationMs !== undefined) this.#call.limitDuration(options.maxDurationMs)
      await this.#call.whileUp(this.#call.caller.answer(options.codecs))
      const codec = this.#call.caller.port?.codec
      if (codec && options.codecs?.includes(codec) === false)
        this.#call.log.warn(
          { event: 'call.codec-kept', codec, wanted: options.codecs },
          'codec not changed, audio already open',
        )
    })
  }

  ring(): Promise<void> {
    return this.#run('ring', async () => this.#call.caller.ring())
  }

  play(options: PlayOptions): Promise<void> {
    return this.#inScope(async () => {
      const end = await (await this.startPlay(options)).ended
      if (end.kind === 'failed') throw new VerbFailed(end.code, end.reason)
      if (end.kind === 'finished') return
      if (this.#call.signal.aborted) throw new CallEnded()
      options.signal?.throwIfAborted()
    })
  }

  startPlay(options: PlayOptions): Promise<CallPlayback> {
    const { playbacks, collections } = this.#state
    const scoped = this.#within(options)
    const begin = async (id: string) => {
      const started = await playbacks.start(id, scoped)
      const ended = async () => {
        const end = await started.ended
        if (end.kind === 'finished') collections.forgetKeys()
        if (end.kind === 'failed') throw new VerbFailed(end.code, end.reason)
        if (end.kind === 'stopped' && this.#call.signal.aborted) throw new CallEnded()
        scoped.signal?.throwIfAborted()
      }
      return { started, ended: ended() }
    }
    return this.#inScope(() => this.#start('play', scoped.signal, begin))
  }

  async collect(options: CollectOptions): Promise<CollectResult> {
    return (await this.startCollect(options)).result
  }

  async startCollect(options: CollectOptions): Promise<CallCollection> {
    const scoped = this.#within(options)
    const begin = async (id: string) => {
      const started = await this.#state.collections.start(id, scoped)
      return { started, ended: started.result }
    }
    const collection = await this.#inScope(() => this.#start('collect', scoped.signal, begin))
    if (!this.#scope) return collection
    const result = this.#inScope(() => collection.result)
    result.catch(() => {})
    return { ...collection, result }
  }

  connect(options: ConnectOptions): Promise<ConnectResult> {
    return this.#settle(async () => {
      const result = await this.#state.log.run('connect', () => this.#connect(this.#within(options)))
      // A failed result is useless to a document whose scope has ended: throws CallEnded then.
      if (result.kind === 'failed') this.#checkScope()
      return result
    })
  }

  joinConference(options: ConferenceOptions): Promise<ConferenceResult> {
    const { conferences } = this.#deps.services
    const scoped = this.#within(options)
    const join = () =>
      this.#withoutKeys(conferences?.join(this.#call, this.#whole, scoped) ?? unavailable('conferences'))
    return this.#settle(() => this.#state.log.run('joinConference', join, scoped.signal))
  }

  joinRoom(options: RoomOptions): Promise<RoomResult> {
    const scoped = this.#within(options)
    const join = () => this.#withoutKeys(this.#joinRoom(scoped))
    return this.#settle(() => this.#state.log.run('joinRoom', join, scoped.signal))
  }

  enterQueue(options: QueueOptions): Promise<QueueResult> {
    const { queues } = this.#deps.services
    const scoped = this.#within(options)
    const enter = () =>
      this.#withoutKeys(queues?.enter(this.#call, this.#whole, scoped) ?? unavailable('queues'))
    return this.#settle(() => this.#state.log.run('enterQueue', enter, scoped.signal))
  }

  startStream(options: StreamOptions): Promise<CallStream> {
    return this.#inScope(async () => {
      const stream = await this.#start('stream', undefined, () =>
        beginStream(this.#call, this.#state, options),
      )
      if (this.#scope) void stream.ended.then(this.#untilScopeEnds(() => stream.stop()))
      return stream
    })
  }

  stopStream(name: string): boolean {
    return !this.#isScopeOver && this.#state.streams.stop(name)
  }

  startAgent(options: AgentOptions): Promise<CallAgent> {
    const scoped = this.#within(options)
    const begin = () => beginAgent(this.#state, scoped)
    return this.#inScope(() => this.#start('agent', scoped.signal, begin))
  }

  get agentCommands(): AgentCommands | undefined {
    return this.#state.agents?.commands
  }

  reportTranscript(event: AgentTranscriptEvent): void {
    this.#call.caller.transcript(event)
  }

  async record(options: RecordOptions): Promise<RecordResult> {
    return this.#settle(async () => (await this.#startRecording(this.#within(options))).ended)
  }

  startRecording(options: RecordOptions): Promise<CallRecording> {
    return this.#inScope(() => this.#startRecording(this.#within(options)))
  }

  echo(options: EchoOptions): Promise<void> {
    const sleep = (ms: number, signal: AbortSignal | undefined) => this.#sleep(ms, signal)
    return this.#runCancellable('echo', options, (scoped) => echo(this.#call, scoped, sleep))
  }

  detect(options: DetectOptions): Promise<DetectResult> {
    const { detector } = this.#deps.services
    return this.#runCancellable('detect', options, async (scoped) => {
      const result = await (detector?.detect(this.#call, scoped) ?? unavailable('detection'))
      if (result.kind === 'digit') this.#state.collections.forgetKeys()
      return result
    })
  }

  sendDigits(digits: string, options: Cancellable = {}): Promise<void> {
    if (options.signal)
      return this.#runCancellable('sendDigits', options, ({ signal }) =>
        sendDigits(this.#call, digits, signal),
      )
    // Without a signal, digits cannot be cancelled: they are sent together, and continue after the end of the
    // scope.
    const sent = () => this.#state.log.run('sendDigits', () => sendDigits(this.#call, digits))
    return this.#inScope(() => this.#scopeOr(sent()))
  }

  hold(options: HoldOptions = {}): Promise<void> {
    return this.#run('hold', () => this.#state.hold.begin(options))
  }

  unhold(): Promise<void> {
    return this.#run('unhold', async () => this.#state.hold.end())
  }

  refer(options: ReferOptions): Promise<ReferResult> {
    const scoped = this.#within(options)
    return this.#settle(() => this.#state.log.run('refer', () => refer(this.#call, scoped), scoped.signal))
  }

  sendUserEvent(event: Readonly<Record<string, unknown>>): boolean {
    if (this.#isScopeOver) return false
    const { log } = this.#state
    const use = log.begin('userEvent')
    try {
      const isSent = sendUserEvent(this.#call.caller, event)
      use.end('finished')
      return isSent
    } catch (error) {
      log.fail(use, error)
      throw error
    }
  }

  sleep(ms: number, options: Cancellable = {}): Promise<void> {
    return this.#runCancellable('sleep', options, ({ signal }) => this.#sleep(ms, signal))
  }

  hangup(reason: HangupReason = 'hangup'): Promise<void> {
    return this.#run('hangup', async () =>
      this.#call.end(this.isAnswered ? this.#normal : { code: rejections[reason] }),
    )
  }

  async #connect(options: ConnectOptions): Promise<ConnectResult> {
    const { fork, clock, services } = this.#deps
    const { bridges, openMixer, player } = services
    const session = new ConnectSession({ fork, bridges, openMixer, player, clock }, this.#call, options)
    const { result, cause, fault, removal } = await this.#withoutKeys(session.run())
    this.#state.refusal = cause
    this.#state.fault = fault
    this.#removed(removal)
    return result
  }

  async #joinRoom(options: RoomOptions): Promise<RoomResult> {
    const { rooms } = this.#deps.services
    this.#state.refusal = undefined
    try {
      const result = await (rooms?.join(this.#call, options) ?? unavailable('rooms'))
      if (result.kind !== 'left') this.#removed(result.kind)
      return result
    } catch (error) {
      if (error instanceof VerbFailed) this.#state.refusal = { code: codeOf(error), detail: options.name }
      throw error
    }
  }

  #removed(reason: Cause['removal']): void {
    this.#state.removal = reason && { reason, at: this.#deps.clock.uptime() }
  }

  #startRecording(options: RecordOptions): Promise<CallRecording> {
    return this.#start('record', options.signal, () => beginRecording(this.#call, this.#state, options))
  }

  async #sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = this.#deps.clock.after(ms, resolve)
    try {
      await this.#call.whileUp(promise, signal)
    } finally {
      timer.cancel()
    }
  }

  /** Runs work during which the caller's keys do not count for a later collection. */
  async #withoutKeys<T>(work: Promise<T>): Promise<T> {
    try {
      return await work
    } finally {
      this.#state.collections.forgetKeys()
    }
  }

  /** Runs a verb that ends with `work` and has no signal of its own. */
  #run(verb: string, work: () => Promise<void>): Promise<void> {
    return this.#inScope(() => this.#state.log.run(verb, work))
  }

  /** Runs a verb that ends with `work`. Its options get the scope's signal, too. */
  #runCancellable<O extends Cancellable, T>(
    verb: string,
    options: O,
    work: (scoped: O) => Promise<T>,
  ): Promise<T> {
    const scoped = this.#within(options)
    return this.#inScope(() => this.#state.log.run(verb, () => work(scoped), scoped.signal))
  }

  /** Starts a verb that goes on after `begin` has resolved, until `ended` settles. */
  async #start<T>(
    verb: string,
    signal: AbortSignal | undefined,
    begin: (id: string) => Promise<Lasting<T>>,
  ): Promise<T> {
    const { log } = this.#state
    const use = log.begin(verb, signal)
    try {
      const { started, ended } = await begin(use.id)
      ended.then(
        () => use.end('finished'),
        (error) => log.fail(use, error, signal),
      )
      return started
    } catch (error) {
      log.fail(use, error, signal)
      throw error
    }
  }

  // The scope.

  get #whole(): CallController {
    return this.#scope?.whole ?? this
  }

  get #isScopeOver(): boolean {
    return this.#scope?.signal.aborted === true
  }

  /** Throws CallEnded after the end of the scope. */
  #checkScope(): void {
    if (this.#isScopeOver) throw new CallEnded()
  }

  /** Adds the scope to the signal of a verb's options. */
  #within<T extends Cancellable>(options: T): T {
    if (!this.#scope) return options
    const { signal } = options
    const { signal: scope } = this.#scope
    return { ...options, signal: signal ? AbortSignal.any([signal, scope]) : scope }
  }

  /** Runs work that rejects with CallEnded if the scope ends before it settles. */
  async #inScope<T>(work: () => Promise<T>): Promise<T> {
    const result = await this.#settle(work)
    this.#checkScope()
    return result
  }

  /** Runs work whose result states its end, even if the scope ended it. */
  async #settle<T>(work: () => Promise<T>): Promise<T> {
    this.#checkScope()
    try {
      return await work()
    } catch (error) {
      this.#checkScope()
      throw error
    }
  }

  /** Waits for work that cannot be cancelled, at most until the scope ends. */
  async #scopeOr(work: Promise<void>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const forget = this.#untilScopeEnds(resolve)
    try {
      await Promise.race([work, promise])
    } finally {
      forget()
    }
  }

  /** Returns a function that runs `end` once; the end of the scope runs it, too. */
  #untilScopeEnds(end: () => void): () => void {
    const { signal } = this.#scope ?? {}
    if (signal?.aborted) end()
    else signal?.addEventListener('abort', end, { once: true })
    return () => {
      signal?.removeEventListener('abort', end)
      end()
    }
  }
}
