import type { SteadyClock } from '../../core/clock.ts'
import { EngineSocket, type EngineTarget, type WireMessage } from '../engines/session/engine-socket.ts'
import { octetsPerSecondOf, WireEncoder, type WireFormat } from '../engines/session/wire-audio.ts'
import { EngineError } from '../streaming/engine-error.ts'
import { RestartingTimer } from '../streaming/restarting-timer.ts'
import type {
  AgentRecogniser,
  AgentRecognition,
  AgentRecognitionListener,
  AgentRecognitionRequest,
} from './recogniser.ts'

/** Options of all recognisers behind a WebSocket. */
export interface SocketRecogniserOptions {
  /** Name in the configuration. */
  readonly name: string
  /** URL (`ws:` or `wss:`); parameters of its query take precedence over those of the recogniser. */
  readonly url: string
  /** Key. Never logged. */
  readonly key?: string
  /** Further headers of the opening request. Never logged. */
  readonly headers?: Readonly<Record<string, string>>
  readonly model?: string
  /** Language (BCP 47) of requests that name none. */
  readonly language?: string
  /** Maximum time until the server is ready, in ms; default 5000. */
  readonly readyMs?: number
}

/** One recognition in the terms of a protocol. Its methods do not throw. */
export interface RecognitionDialect {
  /** URL of the connection, with its parameters. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly format: WireFormat
  /** Number of frames of 20 ms in one message of audio; default 1. */
  readonly frames?: number
  /** Messages after the opening. Without {@link isReady}, audio follows at once. */
  readonly first: readonly WireMessage[]
  /** Returns whether the server takes audio after a message. */
  isReady?(message: WireMessage): boolean
  /** Returns the message of some audio; default the audio itself. */
  audio?(bytes: Buffer): WireMessage
  /** Message at the end of the caller's voice, to have the final text now. */
  readonly final?: WireMessage
  /** Message that keeps the connection without audio. */
  readonly keepAlive?: WireMessage
  /** Message before the connection is closed. */
  readonly last?: WireMessage
  /** Reads a message. A returned error ends the recognition. */
  read(message: WireMessage, listener: AgentRecognitionListener): EngineError | undefined
}

/** Maximum time until the server is ready, in ms. */
const usualReadyMs = 5000
/** Time without audio after which the connection is kept alive by a message, in ms. */
const keepAliveMs = 4000

/** Recogniser whose protocol has one WebSocket for each caller. */
export class SocketRecogniser implements AgentRecogniser {
  readonly name: string
  readonly isStreaming = true
  readonly hasOwnLanguage: boolean
  readonly #options: SocketRecogniserOptions
  readonly #dialect: (request: AgentRecognitionRequest) => RecognitionDialect
  readonly #clock: SteadyClock
  readonly #open = new Set<SocketRecognition>()

  constructor(
    options: SocketRecogniserOptions,
    dialect: (request: AgentRecognitionRequest) => RecognitionDialect,
    clock: SteadyClock,
    hasOwnLanguage = false,
  ) {
    this.name = options.name
    this.hasOwnLanguage = hasOwnLanguage
    this.#options = options
    this.#dialect = dialect
    this.#clock = clock
  }

  /** Number of recognitions in progress. */
  get running(): number {
    return this.#open.size
  }

  open(request: AgentRecognitionRequest, listener: AgentRecognitionListener): AgentRecognition {
    const { name, key, headers, language, readyMs = usualReadyMs } = this.#options
    const dialect = this.#dialect({ ...(language && { language }), ...request })
    const target: EngineTarget = {
      part: name,
      url: dialect.url,
      headers: { ...dialect.headers, ...headers },
      secrets: [key ?? '', ...Object.values(headers ?? {})],
      readyTimeoutMs: readyMs,
      octetsPerSecond: octetsPerSecondOf(dialect.format),
    }
    const deps = { dialect, listener, clock: this.#clock, onOver: () => this.#open.delete(recognition) }
    const recognition: SocketRecognition = new SocketRecognition(target, deps, request)
    this.#open.add(recognition)
    return recognition
  }

  async close(): Promise<void> {
    for (const recognition of this.#open) recognition.close()
  }
}

/** Collaborators of a {@link SocketRecognition}. */
interface SocketRecognitionDeps {
  readonly dialect: RecognitionDialect
  readonly listener: AgentRecognitionListener
  readonly clock: SteadyClock
  readonly onOver: () => void
}

class SocketRecognition implements AgentRecognition {
  readonly #deps: SocketRecognitionDeps
  readonly #socket: EngineSocket
  readonly #encoder: WireEncoder
  #frames: Buffer[] = []
  readonly #keepAlive: RestartingTimer

  constructor(target: EngineTarget, deps: SocketRecognitionDeps, { rate }: AgentRecognitionRequest) {
    const { dialect, listener, clock } = deps
    this.#deps = deps
    this.#encoder = new WireEncoder(dialect.format, rate)
    this.#keepAlive = new RestartingTimer(clock)
    this.#socket = new EngineSocket(
      target,
      {
        onOpen: () => {
          for (const message of dialect.first) this.#socket.send(message)
          if (!dialect.isReady) this.#ready()
        },
        onMessage: (message) => this.#read(message),
        audioMessage: (audio) => dialect.audio?.(audio) ?? audio,
        onWarning: () => {},
        onFailure: ({ kind, message }) => {
          this.#over()
          listener.onFailure(new EngineError(kind, message))
        },
      },
      clock,
    )
    this.#socket.connect()
  }

  write(samples: Int16Array): void {
    if (this.#socket.isOver) return
    this.#frames.push(this.#encoder.encode(samples))
    if (this.#frames.length < (this.#deps.dialect.frames ?? 1)) return
    this.#socket.hear(Buffer.concat(this.#frames.splice(0)))
    if (this.#socket.isReady) this.#stayAlive()
  }

  voice(isVoiced: boolean): void {
    const { final } = this.#deps.dialect
    if (!isVoiced && final && this.#socket.isReady) this.#socket.send(final)
  }

  close(): void {
    this.#over()
    this.#socket.close(this.#deps.dialect.last)
  }

  #read(message: WireMessage): void {
    const { dialect, listener } = this.#deps
    if (!this.#socket.isReady && dialect.isReady?.(message)) this.#ready()
    const error = dialect.read(message, listener)
    if (error) this.#socket.fail(error.kind, error.message)
  }

  #ready(): void {
    this.#socket.ready()
    this.#stayAlive()
  }

  /** Sends a message whenever no audio was written for a while. */
  #stayAlive(): void {
    const { keepAlive } = this.#deps.dialect
    if (!keepAlive || this.#socket.isOver) return
    this.#keepAlive.restart(keepAliveMs, () => {
      this.#socket.send(keepAlive)
      this.#stayAlive()
    })
  }

  #over(): void {
    this.#keepAlive.cancel()
    this.#deps.onOver()
  }
}
