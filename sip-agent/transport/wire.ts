import { isUtf8 } from 'node:buffer'
import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'

/** What carries the bytes of a connection: a socket, with TLS or without, or a WebSocket. */
export interface Wire {
  /** Bytes that the peer has not taken yet. */
  readonly backlog: number
  /** Sends bytes; `done` is called once, with the error where it failed. */
  write(bytes: Buffer, done: (error?: Error | null) => void): void
  /** Ends it as soon as all is sent. */
  finish(): void
  /** Ends it at once. */
  destroy(): void
  /** Ends it where nothing came since the last call, and asks for a sign of life; does nothing where the system does that. */
  probe(): void
}

/** What a wire tells its connection. */
export interface WireUser {
  data(bytes: Buffer): void
  /** Called once, at its end. */
  ended(reason: string): void
}

const gone = 'the connection is closed'

/** A TCP socket, or a TLS one. */
export class SocketWire implements Wire {
  readonly #socket: Socket

  constructor(socket: Socket, user: WireUser) {
    this.#socket = socket
    let reason = gone
    socket.setNoDelay(true)
    socket.setKeepAlive(true, 30_000)
    socket.on('data', (chunk) => user.data(chunk))
    socket.on('error', (error) => {
      reason = error.message
    })
    socket.on('close', () => user.ended(reason))
  }

  get backlog(): number {
    return this.#socket.writableLength
  }

  write(bytes: Buffer, done: (error?: Error | null) => void): void {
    this.#socket.write(bytes, done)
  }

  finish(): void {
    this.#socket.destroySoon()
  }

  destroy(): void {
    this.#socket.destroy()
  }

  probe(): void {}
}

/** Pings that a peer sends without taking the answers may leave this much waiting. */
const maxPongBacklog = 1 << 16
/** Pings between two looks at the connection, half a minute: they reach no gatekeeper, so more are taken for a flood. */
const maxPings = 300

/** A WebSocket (RFC 7118). */
export class WebSocketWire implements Wire {
  readonly #socket: WebSocket
  #heard = true
  #pings = 0

  constructor(socket: WebSocket, user: WireUser) {
    this.#socket = socket
    let reason = gone
    socket.on('message', (data) => {
      this.#heard = true
      user.data(data as Buffer)
    })
    socket.on('pong', () => {
      this.#heard = true
    })
    socket.on('ping', () => {
      this.#heard = true
      if (++this.#pings > maxPings || socket.bufferedAmount > maxPongBacklog) socket.terminate()
    })
    socket.on('error', (error) => {
      reason = error.message
    })
    socket.on('close', () => user.ended(reason))
  }

  get backlog(): number {
    return this.#socket.bufferedAmount
  }

  write(bytes: Buffer, done: (error?: Error | null) => void): void {
    // A text frame that is no UTF-8 would end the connection (RFC 6455 8.1).
    this.#socket.send(bytes, { binary: !isUtf8(bytes) }, done)
  }

  finish(): void {
    this.#socket.close(1002)
  }

  destroy(): void {
    this.#socket.terminate()
  }

  probe(): void {
    if (!this.#heard) {
      this.#socket.terminate()
      return
    }
    this.#heard = false
    this.#pings = 0
    this.#socket.ping()
  }
}
