import type { CallStream, StreamOptions } from '../../../handlers/verbs.ts'
import { CallEnded } from '../../../handlers/verbs.ts'
import type { MediaPort } from '../../../media/types.ts'
import type { Call } from '../call/call.ts'
import { verbFailed } from '../leg/failures.ts'

/** Source of a stream: the leg. */
export interface StreamSource {
  readonly callId: string
  readonly projectId: string
  /** Port of the leg until {@link AudioStream.moveTo}. */
  readonly port: MediaPort
  /** Sends digits to the leg; never rejects. */
  sendDigits(digits: string): void
}

/** Stream of a call. */
export interface AudioStream extends CallStream {
  /** Handles a digit of the leg. */
  digit(digit: string): void
  /** Moves the stream to another port; see `Tap.moveTo`. */
  moveTo(port: MediaPort): void
}

/** Starter of streams; implemented by gateway/streams. */
export interface StreamStarter {
  /** Throws an Error whose `code` is `bad_stream` for options that cannot be used. */
  start(source: StreamSource, options: StreamOptions): AudioStream
}

/** Maximum number of streams of a call at once. */
const maxConcurrentStreams = 4

/** Streams of one call. They follow the caller's port, and end with the call. */
export class CallStreams {
  readonly #starter: StreamStarter
  readonly #call: Call
  readonly #open = new Map<AudioStream, string | undefined>()

  constructor(starter: StreamStarter, call: Call) {
    this.#starter = starter
    this.#call = call
    call.onPartiesChanged(() => this.#followCaller())
    call.signal.addEventListener('abort', () => this.#stopAll(), { once: true })
  }

  /** Throws a `VerbFailed` with `bad_stream`. */
  start(port: MediaPort, options: StreamOptions): CallStream {
    if (this.#call.signal.aborted) throw new CallEnded()
    const { name } = options
    if (this.#open.size >= maxConcurrentStreams)
      throw verbFailed('bad_stream', `A call has at most ${maxConcurrentStreams} streams at once.`)
    if (name !== undefined && this.#named(name))
      throw verbFailed('bad_stream', `The call has a stream of the name ${JSON.stringify(name)} already.`)
    const stream = this.#begin(port, options)
    this.#open.set(stream, name)
    const unsubscribe = this.#call.onDigit((digit) => stream.digit(digit))
    void stream.ended.then(() => {
      unsubscribe()
      this.#open.delete(stream)
    })
    return stream
  }

  /** Stops the stream with this name. Returns false if no stream has it. */
  stop(name: string): boolean {
    const stream = this.#named(name)
    if (!stream) return false
    // Removed at once, so that the name can be used again.
    this.#open.delete(stream)
    stream.stop()
    return true
  }

  #begin(port: MediaPort, options: StreamOptions): AudioStream {
    const { callId, projectId } = this.#call.info
    const sendDigits = (digits: string) => void this.#call.caller.sendDigits(digits).catch(() => {})
    try {
      return this.#starter.start({ callId, projectId, port, sendDigits }, options)
    } catch (error) {
      if ((error as { code?: unknown }).code === 'bad_stream')
        throw verbFailed('bad_stream', (error as Error).message)
      throw error
    }
  }

  #followCaller(): void {
    const { port } = this.#call.caller
    if (port) for (const stream of this.#open.keys()) stream.moveTo(port)
  }

  #named(name: string): AudioStream | undefined {
    for (const [stream, each] of this.#open) if (each === name) return stream
    return undefined
  }

  #stopAll(): void {
    for (const stream of this.#open.keys()) stream.stop()
  }
}
