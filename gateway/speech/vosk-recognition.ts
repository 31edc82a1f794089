import type { RawData, WebSocket } from 'ws'
import type { PcmRate, Recognition, RecognitionListener, Transcript } from '../../media/types.ts'
import type { Clock, Timer } from '../core/clock.ts'
import { readVoskMessage, voskConfig, voskEof } from './vosk-messages.ts'

/** Outcome of a recognition. */
export type VoskResult = 'ok' | 'failed' | 'given-up'

/** Collaborators and values of a {@link VoskRecognition}. */
export interface VoskRecognitionDeps {
  /** New socket that has not emitted any event yet. */
  readonly socket: WebSocket
  readonly listener: RecognitionListener
  readonly clock: Clock
  readonly connectTimeoutMs: number
  readonly sampleRate: PcmRate
  readonly phrases: readonly string[]
  /** Called once, when the recognition has ended. */
  readonly onOver: (result: VoskResult) => void
}

/** Maximum audio in ms that is buffered before the connection is open, or while the server is slow. */
const maxBufferedMs = 5_000
/** Maximum wait for the last transcript, in ms. */
const maxFinalWaitMs = 3_000

/** Recognition of one speaker by a vosk-server, over its own connection. */
export class VoskRecognition implements Recognition {
  readonly #deps: VoskRecognitionDeps
  readonly #maxBytes: number
  #state: 'connecting' | 'open' | 'over' = 'connecting'
  #kept: Buffer[] = []
  #keptBytes = 0
  #timer: Timer
  /** Settles at the end of the recognition; set when the end is requested. */
  #ending: PromiseWithResolvers<void> | undefined

  constructor(deps: VoskRecognitionDeps) {
    this.#deps = deps
    this.#maxBytes = (deps.sampleRate * 2 * maxBufferedMs) / 1000
    const { socket, clock, connectTimeoutMs } = deps
    this.#timer = clock.after(connectTimeoutMs, () =>
      this.#fail(`there was no connection within ${connectTimeoutMs} ms`),
    )
    socket.on('open', () => this.#opened())
    socket.on('message', (data, binary) => this.#received(data, binary))
    // A socket that is closed before it is open reports an error, too, so this listener stays.
    socket.on('error', (error: NodeJS.ErrnoException) => this.#fail(error.code ?? error.message))
    socket.on('close', (code) => this.#closed(code))
  }

  write(samples: Int16Array): void {
    if (this.#state === 'over' || this.#ending) return
    const audio = Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength)
    if (this.#state === 'connecting') this.#keep(Buffer.from(audio))
    else if (this.#deps.socket.bufferedAmount + audio.length > this.#maxBytes)
      this.#fail(`the recogniser is more than ${maxBufferedMs} ms behind`)
    else this.#deps.socket.send(audio)
  }

  end(): Promise<void> {
    if (this.#state === 'over') return Promise.resolve()
    if (!this.#ending) {
      this.#ending = Promise.withResolvers<void>()
      this.#timer.cancel()
      this.#timer = this.#deps.clock.after(maxFinalWaitMs, () => this.#over('failed'))
      if (this.#state === 'open') this.#deps.socket.send(voskEof)
    }
    return this.#ending.promise
  }

  close(): void {
    this.#over('given-up')
  }

  /** Buffers audio, and drops the oldest beyond the limit. */
  #keep(audio: Buffer): void {
    this.#kept.push(audio)
    this.#keptBytes += audio.length
    while (this.#keptBytes > this.#maxBytes) this.#keptBytes -= this.#kept.shift()?.length ?? 0
  }

  #opened(): void {
    if (this.#state !== 'connecting') return
    this.#state = 'open'
    const { socket, sampleRate, phrases } = this.#deps
    socket.send(voskConfig(sampleRate, phrases))
    if (this.#keptBytes > 0) socket.send(Buffer.concat(this.#kept))
    this.#kept = []
    if (this.#ending) socket.send(voskEof)
    else this.#timer.cancel()
  }

  #received(data: RawData, binary: boolean): void {
    if (this.#state === 'over' || binary) return
    let transcript: Transcript | undefined
    try {
      transcript = readVoskMessage(String(data))
    } catch (error) {
      this.#fail((error as Error).message)
      return
    }
    if (transcript) this.#deps.listener.onTranscript(transcript)
  }

  #closed(code: number): void {
    // Once the end was requested, the server sends the last transcript and closes the connection. An earlier
    // close is a failure.
    if (this.#ending) this.#over('ok')
    else this.#fail(`the recogniser closed the connection (${code})`)
  }

  #fail(reason: string): void {
    if (this.#state === 'over') return
    this.#over('failed', () => this.#deps.listener.onFailure(new Error(reason)))
  }

  #over(result: VoskResult, report?: () => void): void {
    if (this.#state === 'over') return
    this.#state = 'over'
    this.#timer.cancel()
    this.#kept = []
    this.#deps.socket.terminate()
    this.#deps.onOver(result)
    report?.()
    this.#ending?.resolve()
  }
}
