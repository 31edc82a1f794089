import type { RawData, WebSocket } from 'ws'
import type { PcmRate, Recognition, RecognitionListener, Transcript } from '../../media/types.ts'
import type { Clock, Timer } from '../core/clock.ts'
import { readVoskMessage, voskConfig, voskEof } from './vosk-messages.ts'

/** How a recognition ended: by its end, by a failure, or given up. */
export type VoskResult = 'ok' | 'failed' | 'given-up'

/** What one recognition works with. */
export interface VoskRecognitionDeps {
  /** Just made, so nothing has happened to it yet. */
  readonly socket: WebSocket
  readonly listener: RecognitionListener
  readonly clock: Clock
  readonly connectTimeoutMs: number
  readonly sampleRate: PcmRate
  readonly phrases: readonly string[]
  /** Called once. */
  readonly onOver: (result: VoskResult) => void
}

/** Audio that is kept before the connection is there, and that a slow server may have before it, in ms. */
const maxBufferedMs = 5_000
/** Longest wait for the last transcript, in ms. */
const maxFinalWaitMs = 3_000

/** One speaker being understood by a vosk-server, over a connection of its own. */
export class VoskRecognition implements Recognition {
  readonly #parts: VoskRecognitionDeps
  readonly #mostBytes: number
  #state: 'connecting' | 'open' | 'over' = 'connecting'
  #kept: Buffer[] = []
  #keptBytes = 0
  #timer: Timer
  /** Somebody waits for the end. */
  #ending: PromiseWithResolvers<void> | undefined

  constructor(parts: VoskRecognitionDeps) {
    this.#parts = parts
    this.#mostBytes = (parts.sampleRate * 2 * maxBufferedMs) / 1000
    const { socket, clock, connectTimeoutMs } = parts
    this.#timer = clock.after(connectTimeoutMs, () =>
      this.#fail(`there was no connection within ${connectTimeoutMs} ms`),
    )
    socket.on('open', () => this.#opened())
    socket.on('message', (data, binary) => this.#received(data, binary))
    // A socket that is given up before it is open reports that as an error too, so this listener stays for good.
    socket.on('error', (error: NodeJS.ErrnoException) => this.#fail(error.code ?? error.message))
    socket.on('close', (code) => this.#closed(code))
  }

  write(samples: Int16Array): void {
    if (this.#state === 'over' || this.#ending) return
    const audio = Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength)
    if (this.#state === 'connecting') this.#keep(Buffer.from(audio))
    else if (this.#parts.socket.bufferedAmount + audio.length > this.#mostBytes)
      this.#fail(`the recogniser is more than ${maxBufferedMs} ms behind`)
    else this.#parts.socket.send(audio)
  }

  end(): Promise<void> {
    if (this.#state === 'over') return Promise.resolve()
    if (!this.#ending) {
      this.#ending = Promise.withResolvers<void>()
      this.#timer.cancel()
      this.#timer = this.#parts.clock.after(maxFinalWaitMs, () => this.#over('failed'))
      if (this.#state === 'open') this.#parts.socket.send(voskEof)
    }
    return this.#ending.promise
  }

  close(): void {
    this.#over('given-up')
  }

  /** Keeps the latest audio: who speaks while nobody listens yet speaks at the end of it. */
  #keep(audio: Buffer): void {
    this.#kept.push(audio)
    this.#keptBytes += audio.length
    while (this.#keptBytes > this.#mostBytes) this.#keptBytes -= this.#kept.shift()?.length ?? 0
  }

  #opened(): void {
    if (this.#state !== 'connecting') return
    this.#state = 'open'
    const { socket, sampleRate, phrases } = this.#parts
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
    if (transcript) this.#parts.listener.onTranscript(transcript)
  }

  #closed(code: number): void {
    // After the end the server closes, with the last transcript told; before it nobody asked for that.
    if (this.#ending) this.#over('ok')
    else this.#fail(`the recogniser closed the connection (${code})`)
  }

  #fail(reason: string): void {
    if (this.#state === 'over') return
    this.#over('failed', () => this.#parts.listener.onFailure(new Error(reason)))
  }

  #over(result: VoskResult, tell?: () => void): void {
    if (this.#state === 'over') return
    this.#state = 'over'
    this.#timer.cancel()
    this.#kept = []
    this.#parts.socket.terminate()
    this.#parts.onOver(result)
    tell?.()
    this.#ending?.resolve()
  }
}
