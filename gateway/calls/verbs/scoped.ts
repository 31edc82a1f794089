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
} from '../../../handlers/verbs.ts'

/**
 * A call's verbs for a while only: for the document of who waits, of who is asked, or that had the call before another one. Once `signal`
 * fires, what is pending is given up, and every verb rejects with {@link CallEnded}, so that a document ends as it does with its call; those
 * that resolve with it resolve then, too.
 */
export const scoped = (control: CallControl, signal: AbortSignal): CallControl => new Scoped(control, signal)

class Scoped implements CallControl {
  readonly #control: CallControl
  readonly #scope: AbortSignal
  readonly signal: AbortSignal

  constructor(control: CallControl, scope: AbortSignal) {
    this.#control = control
    this.#scope = scope
    this.signal = AbortSignal.any([control.signal, scope])
  }

  get info(): CallInfo {
    return this.#control.info
  }

  get answered(): boolean {
    return this.#control.answered
  }

  onVerb(listener: (event: VerbEvent) => void): () => void {
    return this.#while(this.#control.onVerb(listener))
  }

  onDigit(listener: (digit: string) => void): () => void {
    return this.#while(this.#control.onDigit(listener))
  }

  answer(options?: AnswerOptions): Promise<void> {
    return this.#do((control) => control.answer(options))
  }

  ring(): Promise<void> {
    return this.#do((control) => control.ring())
  }

  play(options: PlayOptions): Promise<void> {
    return this.#do((control) => control.play(this.#within(options)))
  }

  startPlay(options: PlayOptions): Promise<CallPlayback> {
    return this.#do((control) => control.startPlay(this.#within(options)))
  }

  collect(options: CollectOptions): Promise<CollectResult> {
    return this.#do((control) => control.collect(this.#within(options)))
  }

  startCollect(options: CollectOptions): Promise<CallCollection> {
    return this.#do(async (control) => {
      const collection = await control.startCollect(this.#within(options))
      const result = this.#do(() => collection.result)
      result.catch(() => {})
      const { id, prompt } = collection
      return {
        id,
        result,
        ...(prompt && { prompt }),
        startTimers: () => collection.startTimers(),
        stop: () => collection.stop(),
      }
    })
  }

  connect(options: ConnectOptions): Promise<ConnectResult> {
    return this.#result(async (control) => {
      const result = await control.connect(this.#within(options))
      // Nobody was found, and whoever has the call now does not look for anybody.
      if (result.kind === 'failed') this.#check()
      return result
    })
  }

  joinConference(options: ConferenceOptions): Promise<ConferenceResult> {
    return this.#result((control) => control.joinConference(this.#within(options)))
  }

  enterQueue(options: QueueOptions): Promise<QueueResult> {
    return this.#result((control) => control.enterQueue(this.#within(options)))
  }

  startStream(options: StreamOptions): Promise<CallStream> {
    return this.#do(async (control) => {
      const stream = await control.startStream(options)
      void stream.ended.then(this.#while(() => stream.stop()))
      return stream
    })
  }

  stopStream(name: string): boolean {
    return !this.#scope.aborted && this.#control.stopStream(name)
  }

  record(options: RecordOptions): Promise<RecordResult> {
    return this.#result((control) => control.record(this.#within(options)))
  }

  startRecording(options: RecordOptions): Promise<CallRecording> {
    return this.#do((control) => control.startRecording(this.#within(options)))
  }

  echo(options: EchoOptions): Promise<void> {
    return this.#do((control) => control.echo(this.#within(options)))
  }

  detect(options: DetectOptions): Promise<DetectResult> {
    return this.#do((control) => control.detect(this.#within(options)))
  }

  sendDigits(digits: string, options: Cancellable = {}): Promise<void> {
    if (options.signal) return this.#do((control) => control.sendDigits(digits, this.#within(options)))
    // Keys that nobody may give up are pressed all at once, and so to their end.
    return this.#do((control) => this.#meanwhile(control.sendDigits(digits)))
  }

  hold(options?: HoldOptions): Promise<void> {
    return this.#do((control) => control.hold(options))
  }

  unhold(): Promise<void> {
    return this.#do((control) => control.unhold())
  }

  refer(options: ReferOptions): Promise<ReferResult> {
    return this.#result((control) => control.refer(this.#within(options)))
  }

  userEvent(event: Readonly<Record<string, unknown>>): boolean {
    return !this.#scope.aborted && this.#control.userEvent(event)
  }

  sleep(ms: number, options: Cancellable = {}): Promise<void> {
    return this.#do((control) => control.sleep(ms, this.#within(options)))
  }

  hangup(reason?: HangupReason): Promise<void> {
    return this.#do((control) => control.hangup(reason))
  }

  /** The verb's options, given up with the scope too. */
  #within<T extends Cancellable>(options: T): T {
    const { signal } = options
    return { ...options, signal: signal ? AbortSignal.any([signal, this.#scope]) : this.#scope }
  }

  async #do<T>(verb: (control: CallControl) => Promise<T>): Promise<T> {
    this.#check()
    try {
      const result = await verb(this.#control)
      this.#check()
      return result
    } catch (error) {
      this.#check()
      throw error
    }
  }

  /** Waits for work that cannot be given up no longer than the scope lasts. */
  async #meanwhile(work: Promise<void>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const forget = this.#while(resolve)
    try {
      await Promise.race([work, promise])
    } finally {
      forget()
    }
  }

  /** As {@link #do}, of a verb that tells what became of it also where it was given up. */
  async #result<T>(verb: (control: CallControl) => Promise<T>): Promise<T> {
    this.#check()
    try {
      return await verb(this.#control)
    } catch (error) {
      this.#check()
      throw error
    }
  }

  #check(): void {
    if (this.#scope.aborted) throw new CallEnded()
  }

  /** Runs `end` with the scope, at once where that is over, unless what comes back is called before. */
  #while(end: () => void): () => void {
    if (this.#scope.aborted) end()
    else this.#scope.addEventListener('abort', end, { once: true })
    return () => {
      this.#scope.removeEventListener('abort', end)
      end()
    }
  }
}
