import { type RawData, WebSocket } from 'ws'
import type { SteadyClock, Timer } from '../../../core/clock.ts'
import { isJsonObject } from '../../../core/json.ts'
import type { EngineFailure, EngineFailureKind } from '../../engine.ts'
import { kindOfClose, kindOfError, kindOfStatus, publicText } from './failures.ts'

/** Message of a protocol: a JSON object. */
export type WireMessage = Readonly<Record<string, unknown>>

/** Server of a session, and limits. */
export interface EngineTarget {
  /** Name for failures: that of the configuration. */
  readonly part: string
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  /** Texts that no failure contains. */
  readonly secrets: readonly string[]
  /** Longest time until {@link EngineSocket.ready}, in ms; default 10,000. */
  readonly readyTimeoutMs?: number
  /** Time without any frame after which the connection counts as lost, in ms; default 15,000. */
  readonly lifelessMs?: number
  /** Octets per second of the audio to the server, as sent. The socket is at most 5 s behind. */
  readonly octetsPerSecond: number
  /** Longest audio that is kept until the session is ready, in ms; default 5,000. */
  readonly keptMs?: number
}

/**
 * Protocol above an {@link EngineSocket}. Its methods may not throw. An error of `onMessage` or `onBinary`
 * fails the session.
 */
export interface EngineProtocol {
  /** The connection is open: the first messages can be sent. */
  onOpen(): void
  onMessage(message: WireMessage): void
  /** Binary frame that is no JSON. Absent: binary frames are JSON. */
  onBinary?(bytes: Buffer): void
  /** Message of 20 ms of audio, as {@link EngineSocket.hear} got it. */
  audioMessage(audio: Buffer): WireMessage | Buffer
  /** Kind of a close that the protocol has a meaning of its own for; undefined: by its code. */
  kindOfClose?(code: number, reason: string): EngineFailureKind | undefined
  /** Fault that does not end the session. */
  onWarning(code: string, message: string): void
  /** The session has failed. Called at most once; nothing follows. */
  onFailure(failure: EngineFailure): void
}

/** Longest message of a server, in octets: a minute of audio. More would keep the caller for minutes. */
const maxMessageBytes = 4 * 1024 * 1024
/** Number of messages that cannot be read; the next one fails the session. */
const maxBadMessages = 20
const defaultReadyTimeoutMs = 10_000
const defaultLifelessMs = 15_000
const defaultKeptMs = 5_000
/** Longest audio in ms that waits in the socket. */
const maxBehindMs = 5_000
/** Octets in the socket that are always permitted: the first messages with prompt and history. */
const minBufferBytes = 256 * 1024
const maxCloseMs = 2_000

/**
 * One WebSocket to an engine. The operator configures the URL, so private addresses are permitted; redirects
 * are not followed, because they would carry the key elsewhere. Reports exactly one failure, unless it is
 * closed before. Audio is kept until the protocol calls {@link ready}.
 */
export class EngineSocket {
  readonly #target: EngineTarget
  readonly #protocol: EngineProtocol
  readonly #clock: SteadyClock
  #socket: WebSocket | undefined
  #state: 'connecting' | 'open' | 'ready' | 'over' = 'connecting'
  #kept: Buffer[] = []
  #keptBytes = 0
  #bad = 0
  #lifeAt: number
  #timer: Timer
  #pings: Timer | undefined

  constructor(target: EngineTarget, protocol: EngineProtocol, clock: SteadyClock) {
    this.#target = target
    this.#protocol = protocol
    this.#clock = clock
    this.#lifeAt = clock.uptime()
    const limit = target.readyTimeoutMs ?? defaultReadyTimeoutMs
    this.#timer = clock.after(limit, () =>
      this.fail('timeout', `the session was not ready within ${limit} ms`),
    )
  }

  /** Whether messages are sent. */
  get isOpen(): boolean {
    return this.#state === 'open' || this.#state === 'ready'
  }

  get isReady(): boolean {
    return this.#state === 'ready'
  }

  get isOver(): boolean {
    return this.#state === 'over'
  }

  /** Connects, once. `url`: another one than the target's, for instance from a request before. */
  connect(url = this.#target.url): void {
    if (this.#state !== 'connecting' || this.#socket) return
    try {
      this.#socket = new WebSocket(url, {
        ...(this.#target.headers && { headers: this.#target.headers }),
        followRedirects: false,
        perMessageDeflate: false,
        maxPayload: maxMessageBytes,
      })
    } catch (error) {
      // The message of the error contains the URL or a header, so it is withheld.
      const { code } = error as NodeJS.ErrnoException
      queueMicrotask(() => this.fail('refused', `the request cannot be made: ${code ?? 'invalid URL'}`))
      return
    }
    this.#listen(this.#socket)
  }

  /** Sends a message, if the connection is open. */
  send(message: WireMessage): void {
    if (this.isOpen) this.#socket?.send(JSON.stringify(message))
  }

  /** Sends audio, or keeps it until the session is ready: the last 5 s at most. */
  hear(audio: Buffer): void {
    if (this.#state === 'ready') this.#sendAudio(audio)
    else if (this.#state !== 'over') this.#keep(audio)
  }

  /** Ends the opening, and delivers the audio kept. Further calls have no effect. */
  ready(): void {
    if (this.#state !== 'open') return
    this.#state = 'ready'
    this.#timer.cancel()
    for (const audio of this.#kept.splice(0)) this.#sendAudio(audio)
  }

  /** Ends the session with a failure. `message` must contain no secret and no text of the conversation. */
  fail(kind: EngineFailureKind, message: string): void {
    if (!this.#over()) return
    this.#socket?.terminate()
    this.#protocol.onFailure({ kind, message, part: this.#target.part })
  }

  /** Returns a server's text as a failure may contain it. */
  publicText(text: unknown): string {
    return publicText(text, this.#target.secrets)
  }

  /** Closes the connection. No event follows. `last`: message before. Idempotent. */
  close(last?: WireMessage): void {
    if (last) this.send(last)
    const wasOpen = this.isOpen
    if (!this.#over()) return
    const socket = this.#socket
    if (!socket) return
    if (!wasOpen) {
      socket.terminate()
      return
    }
    socket.close(1000)
    const timer = this.#clock.after(maxCloseMs, () => socket.terminate())
    socket.once('close', () => timer.cancel())
  }

  #over(): boolean {
    if (this.#state === 'over') return false
    this.#state = 'over'
    this.#timer.cancel()
    this.#pings?.cancel()
    this.#kept = []
    return true
  }

  #listen(socket: WebSocket): void {
    socket.on('open', () => this.#opened())
    socket.on('message', (data, isBinary) => this.#received(data, isBinary))
    socket.on('ping', () => this.#alive())
    socket.on('pong', () => this.#alive())
    socket.on('unexpected-response', (_, { statusCode = 0 }) =>
      this.fail(kindOfStatus(statusCode), `the server answered with status ${statusCode}`),
    )
    // A socket that is closed before it is open reports an error, too, so this listener stays.
    socket.on('error', (error: NodeJS.ErrnoException) =>
      this.fail(kindOfError(error), `the connection failed: ${error.code ?? 'unknown error'}`),
    )
    socket.on('close', (code, reason) => this.#closed(code, reason.toString()))
  }

  #opened(): void {
    if (this.#state !== 'connecting') return
    this.#state = 'open'
    this.#alive()
    this.#ping()
    this.#protocol.onOpen()
  }

  #alive(): void {
    this.#lifeAt = this.#clock.uptime()
  }

  /** Sends a ping three times in the time that a silent server has. */
  #ping(): void {
    const limit = this.#target.lifelessMs ?? defaultLifelessMs
    this.#pings = this.#clock.after(limit / 3, () => {
      if (this.#clock.uptime() - this.#lifeAt >= limit) {
        this.fail('timeout', `the server sent nothing for ${limit} ms`)
      } else {
        this.#socket?.ping()
        this.#ping()
      }
    })
  }

  #received(data: RawData, isBinary: boolean): void {
    if (!this.isOpen) return
    this.#alive()
    try {
      if (isBinary && this.#protocol.onBinary) this.#protocol.onBinary(bufferOf(data))
      else this.#read(String(data))
    } catch (error) {
      // A server's message must not end the process. The error's text may quote it, so only the name is kept.
      const name = error instanceof Error ? error.name : 'unknown error'
      this.fail('protocol', `a message of the server cannot be processed (${name})`)
    }
  }

  #read(text: string): void {
    let message: unknown
    try {
      message = JSON.parse(text)
    } catch {
      message = undefined
    }
    if (isJsonObject(message)) this.#protocol.onMessage(message)
    else this.badMessage('a JSON object expected')
  }

  /** Counts a message that cannot be used; too many of them fail the session. */
  badMessage(reason: string): void {
    if (this.isOver) return
    this.#bad++
    if (this.#bad > maxBadMessages) this.fail('protocol', `more than ${maxBadMessages} unreadable messages`)
    else this.#protocol.onWarning('engine_message_unreadable', reason)
  }

  #closed(code: number, reason: string): void {
    const kind = this.#protocol.kindOfClose?.(code, reason) ?? kindOfClose(code)
    const text = kind === 'unauthorised' ? '' : this.publicText(reason)
    const why = code === 1006 ? 'the connection was lost' : `the server closed the connection (${code})`
    this.fail(kind, text === '' ? why : `${why}: ${text}`)
  }

  #keep(audio: Buffer): void {
    const { octetsPerSecond, keptMs = defaultKeptMs } = this.#target
    this.#kept.push(audio)
    this.#keptBytes += audio.length
    while (this.#keptBytes > (octetsPerSecond * keptMs) / 1000)
      this.#keptBytes -= this.#kept.shift()?.length ?? 0
  }

  #sendAudio(audio: Buffer): void {
    const socket = this.#socket
    if (!socket || this.#state !== 'ready') return
    // Base64 and JSON make at most twice the octets.
    const limit = Math.max(minBufferBytes, (this.#target.octetsPerSecond * 2 * maxBehindMs) / 1000)
    if (socket.bufferedAmount > limit) {
      this.fail('connection', 'the server takes the audio too slowly')
      return
    }
    const message = this.#protocol.audioMessage(audio)
    socket.send(Buffer.isBuffer(message) ? message : JSON.stringify(message))
  }
}

const bufferOf = (data: RawData): Buffer => {
  if (Buffer.isBuffer(data)) return data
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data)
}
