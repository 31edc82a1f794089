import type { WebSocket } from 'ws'
import type { DocumentSocket, SocketEnd, SocketListener } from '../../handlers/handler.ts'
import type { Clock, Timer } from '../core/clock.ts'

/** Collaborators of a {@link CustomerSocket}. */
export interface CustomerSocketDeps {
  readonly clock: Clock
  /** Called once, when the connection is closed. */
  readonly onClosed: () => void
}

/** Maximum wait for a connection, in ms. */
const connectTimeoutMs = 5_000
/** Interval of pings, in ms. A ping that is not answered before the next one ends the connection. */
const pingMs = 20_000
/** Maximum number of bytes that wait to be sent. */
const maxBufferedBytes = 1 << 20
/** Maximum wait for the end of the connection after a Close frame, in ms. */
export const maxCloseMs = 2_000

/** WebSocket to a customer's server. */
export class CustomerSocket implements DocumentSocket {
  readonly #deps: CustomerSocketDeps
  readonly #listener: SocketListener
  #socket: WebSocket | undefined
  #state: 'connecting' | 'open' | 'over' = 'connecting'
  #timer: Timer
  /** Time of the ping that was not answered, in ms. */
  #pingedAt: number | undefined

  /** `connect` returns a new socket, or throws an Error whose message is the reason. */
  constructor(connect: () => WebSocket, deps: CustomerSocketDeps, listener: SocketListener) {
    this.#deps = deps
    this.#listener = listener
    const late = `there was no connection within ${connectTimeoutMs} ms`
    this.#timer = deps.clock.after(connectTimeoutMs, () => this.#end({ kind: 'unreachable', reason: late }))
    try {
      this.#socket = this.#follow(connect())
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      // The listener is called after the return.
      queueMicrotask(() => this.#end({ kind: 'unreachable', reason: code ?? message }))
    }
  }

  send(text: string): void {
    if (this.#state !== 'open' || !this.#socket) return
    this.#socket.send(text)
    if (this.#socket.bufferedAmount > maxBufferedBytes)
      this.#end({ kind: 'slow', reason: 'the server takes the messages too slowly' })
  }

  close(): void {
    if (this.#state === 'over') return
    const wasOpen = this.#state === 'open'
    this.#over()
    if (!wasOpen || !this.#socket) {
      this.#drop()
      return
    }
    this.#socket.close(1000)
    this.#timer = this.#deps.clock.after(maxCloseMs, () => this.#socket?.terminate())
  }

  #follow(socket: WebSocket): WebSocket {
    socket.on('open', () => this.#opened())
    socket.on('message', (data, isBinary) => {
      if (this.#state === 'open') this.#listener.onMessage(isBinary ? undefined : String(data))
    })
    socket.on('pong', () => this.#answered())
    socket.on('error', (error: NodeJS.ErrnoException) => this.#failed(error))
    socket.on('close', (code) => this.#closed(code))
    return socket
  }

  #opened(): void {
    if (this.#state !== 'connecting') return
    this.#state = 'open'
    this.#listener.onOpen()
    this.#ping()
  }

  #ping(): void {
    if (this.#state !== 'open') return
    if (this.#pingedAt !== undefined) {
      this.#end({ kind: 'lost', reason: `the server did not answer a ping within ${pingMs} ms` })
      return
    }
    this.#pingedAt = this.#deps.clock.now()
    this.#socket?.ping()
    this.#timer.cancel()
    this.#timer = this.#deps.clock.after(pingMs, () => this.#ping())
  }

  #answered(): void {
    if (this.#pingedAt === undefined || this.#state !== 'open') return
    const ms = this.#deps.clock.now() - this.#pingedAt
    this.#pingedAt = undefined
    this.#listener.onRoundTrip(Math.max(0, ms))
  }

  #failed({ code, message }: NodeJS.ErrnoException): void {
    const isLarge = code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH'
    const kind = this.#state === 'connecting' ? 'unreachable' : isLarge ? 'too-large' : 'lost'
    this.#end({ kind, reason: code ?? message })
  }

  #closed(code: number): void {
    const isLost = code === 1006
    this.#end(
      isLost
        ? { kind: 'lost', reason: 'the connection was lost' }
        : { kind: 'closed', reason: `the server closed the connection (${code})` },
    )
    this.#timer.cancel()
    this.#deps.onClosed()
  }

  /** Ends the connection with a report. */
  #end(end: SocketEnd): void {
    if (this.#state === 'over') return
    this.#over()
    this.#drop()
    this.#listener.onEnd(end)
  }

  /** Drops the connection; without a socket, it is closed already. */
  #drop(): void {
    if (this.#socket) this.#socket.terminate()
    else this.#deps.onClosed()
  }

  #over(): void {
    this.#state = 'over'
    this.#timer.cancel()
  }
}
