import type { SteadyClock } from '../../core/clock.ts'
import { EngineSocket, type EngineTarget, type WireMessage } from '../engines/session/engine-socket.ts'
import { octetsPerSecondOf, WireDecoder, type WireFormat } from '../engines/session/wire-audio.ts'
import { audioOf } from '../engines/session/wire-values.ts'
import { EngineError } from '../streaming/engine-error.ts'
import { RestartingTimer } from '../streaming/restarting-timer.ts'
import type { AgentVoice, SpeakOptions, SpeechListener, Utterance } from './voice.ts'

/** Options of all voices behind a WebSocket. */
export interface SocketVoiceOptions {
  /** Name in the configuration. */
  readonly name: string
  /** URL (`ws:` or `wss:`) of the service. */
  readonly url: string
  /** Voice by the server's name, unless the document names one. */
  readonly voice?: string
  readonly model?: string
  /** Key. Never logged. */
  readonly key?: string
  /** Further headers of the opening request. Never logged. */
  readonly headers?: Readonly<Record<string, string>>
  /** Maximum wait for the first audio, in ms; default 5000. */
  readonly firstAudioMs?: number
  /** Maximum wait for further audio, in ms; default 3000. */
  readonly audioMs?: number
}

/** Meaning of a message: audio in base64, the end of the speech, or an error. */
export interface VoiceEvent {
  readonly audio?: string
  readonly isEnd?: boolean
  readonly error?: EngineError
}

/** One utterance in the terms of a protocol. Its methods do not throw. */
export interface VoiceDialect {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly format: WireFormat
  /** Messages that request the speech. */
  readonly first: readonly WireMessage[]
  /** Whether audio comes in binary messages. */
  readonly isBinary: boolean
  /** Message before the connection is closed. */
  readonly last?: WireMessage
  read(message: WireMessage): VoiceEvent
}

/** Voice whose protocol has one WebSocket for each utterance, so that closing it stops the speech. */
export class SocketVoice implements AgentVoice {
  readonly name: string
  readonly #options: SocketVoiceOptions
  readonly #dialect: (text: string, options: SpeakOptions) => VoiceDialect
  readonly #clock: SteadyClock
  readonly #running = new Set<SocketUtterance>()

  constructor(
    options: SocketVoiceOptions,
    dialect: (text: string, options: SpeakOptions) => VoiceDialect,
    clock: SteadyClock,
  ) {
    this.name = options.name
    this.#options = options
    this.#dialect = dialect
    this.#clock = clock
  }

  speak(text: string, options: SpeakOptions, listener: SpeechListener): Utterance {
    const { name, key, headers, firstAudioMs = 5000, audioMs = 3000 } = this.#options
    const dialect = this.#dialect(text, options)
    const target: EngineTarget = {
      part: name,
      url: dialect.url,
      headers: { ...dialect.headers, ...headers },
      secrets: [key ?? '', text, ...Object.values(headers ?? {})],
      readyTimeoutMs: firstAudioMs,
      octetsPerSecond: octetsPerSecondOf(dialect.format),
    }
    const utterance: SocketUtterance = new SocketUtterance(target, {
      dialect,
      decoder: new WireDecoder(dialect.format, options.rate),
      listener,
      audioMs,
      clock: this.#clock,
      onOver: () => this.#running.delete(utterance),
    })
    this.#running.add(utterance)
    return utterance
  }

  async close(): Promise<void> {
    for (const utterance of this.#running) utterance.cancel()
  }
}

/** Collaborators and values of a {@link SocketUtterance}. */
interface SocketUtteranceDeps {
  readonly dialect: VoiceDialect
  readonly decoder: WireDecoder
  readonly listener: SpeechListener
  readonly audioMs: number
  readonly clock: SteadyClock
  readonly onOver: () => void
}

class SocketUtterance implements Utterance {
  readonly #deps: SocketUtteranceDeps
  readonly #socket: EngineSocket
  readonly #wait: RestartingTimer
  #hasAudio = false
  /** Whether the server closed the connection as after a complete speech. */
  #isClosed = false

  constructor(target: EngineTarget, deps: SocketUtteranceDeps) {
    const { dialect, clock } = deps
    this.#deps = deps
    this.#wait = new RestartingTimer(clock)
    this.#socket = new EngineSocket(
      target,
      {
        onOpen: () => {
          for (const message of dialect.first) this.#socket.send(message)
        },
        onMessage: (message) => this.#read(message),
        ...(dialect.isBinary && { onBinary: (bytes: Buffer) => this.#hear(bytes) }),
        audioMessage: (audio) => audio,
        kindOfClose: (code) => {
          this.#isClosed = code === 1000
          return undefined
        },
        onWarning: () => {},
        onFailure: ({ kind, message }) => {
          this.#over()
          if (this.#isClosed && this.#hasAudio) deps.listener.onEnd()
          else deps.listener.onFailure(new EngineError(kind, message))
        },
      },
      clock,
    )
    this.#socket.connect()
  }

  cancel(): void {
    this.#over()
    this.#socket.close(this.#deps.dialect.last)
  }

  #read(message: WireMessage): void {
    const { audio, isEnd, error } = this.#deps.dialect.read(message)
    if (error) {
      this.#socket.fail(error.kind, error.message)
      return
    }
    if (audio) this.#decode(audio)
    if (isEnd && !this.#socket.isOver) this.#end()
  }

  #decode(audio: string): void {
    try {
      this.#hear(audioOf(audio))
    } catch (error) {
      this.#socket.fail('protocol', (error as Error).message)
    }
  }

  #hear(bytes: Buffer): void {
    const { decoder, listener, audioMs } = this.#deps
    if (this.#socket.isOver) return
    const samples = decoder.decode(bytes)
    if (samples.length === 0) return
    this.#hasAudio = true
    this.#socket.ready()
    this.#wait.restart(audioMs, () =>
      this.#socket.fail('timeout', `no further audio was received within ${audioMs} ms`),
    )
    listener.onAudio(samples)
  }

  #end(): void {
    if (!this.#hasAudio) {
      this.#socket.fail('protocol', 'the server answered without audio')
      return
    }
    this.cancel()
    this.#deps.listener.onEnd()
  }

  #over(): void {
    this.#wait.cancel()
    this.#deps.onOver()
  }
}
