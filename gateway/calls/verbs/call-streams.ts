import type { CallStream, StreamOptions } from '../../../handlers/verbs.ts'
import { CallEnded } from '../../../handlers/verbs.ts'
import type { MediaPort } from '../../../media/types.ts'
import type { Call } from '../call/call.ts'
import { verbFailed } from '../leg/failures.ts'

/** The leg whose audio is streamed. */
export interface StreamSource {
  readonly callId: string
  readonly projectId: string
  /** Until {@link AudioStream.moveTo}. */
  readonly port: MediaPort
  /** Sends digits to the leg; never rejects. */
  sendDigits(digits: string): void
}

/** A stream, as the call sees it. */
export interface AudioStream extends CallStream {
  /** The leg has pressed a key. */
  digit(digit: string): void
  /** It streams that port from now on; see `Tap.moveTo`. */
  moveTo(port: MediaPort): void
}

/** Begins streams; implemented by gateway/streams. */
export interface StreamStarter {
  /** Throws an Error whose `code` is `bad_stream` for options that cannot be used. */
  start(source: StreamSource, options: StreamOptions): AudioStream
}

/** At once, of one call. */
const maxConcurrentStreams = 4

/** The streams of one call: of its caller's port, also when another leg becomes the caller, and ended with the call. */
export class CallStreams {
  readonly #starter: StreamStarter
  readonly #call: Call
  readonly #open = new Map<AudioStream, string | undefined>()

  constructor(starter: StreamStarter, call: Call) {
    this.#starter = starter
    this.#call = call
    call.onPartiesChanged(() => this.#goOn())
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
    const silent = this.#call.onDigit((digit) => stream.digit(digit))
    void stream.ended.then(() => {
      silent()
      this.#open.delete(stream)
    })
    return stream
  }

  /** False where there is none of that name. */
  stop(name: string): boolean {
    const stream = this.#named(name)
    if (!stream) return false
    // At once, so that the name can be given again.
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

  #goOn(): void {
    const { port } = this.#call.caller
    if (port) for (const stream of this.#open.keys()) stream.moveTo(port)
  }

  #named(name: string): AudioStream | undefined {
    for (const [stream, its] of this.#open) if (its === name) return stream
    return undefined
  }

  #stopAll(): void {
    for (const stream of this.#open.keys()) stream.stop()
  }
}
