import { isUtf8 } from 'node:buffer'
import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'

/** Carrier of a connection's bytes: a socket, with or without TLS, or a WebSocket. */
export interface Wire {
  /** Number of bytes that the peer has not read. */
  readonly backlog: number
  /** Sends bytes; `done` is called once, with the error if it failed. */
  write(bytes: Buffer, done: (error?: Error | null) => void): void
  /** Closes the wire after all bytes were sent. */
  finish(): void
  /** Closes the wire at once. */
  destroy(): void
  /**
   * Closes the wire if no byte arrived since the previous call; otherwise sends a ping. Does nothing if the
   * system sends keep-alives.
   */
  probe(): void
}

/** Receiver of a wire's events. */
export interface WireUser {
  data(bytes: Buffer): void
  /** Called once, at the end of the wire. */
  ended(reason: string): void
}

const gone = 'the connection is closed'

/** Returns the reason of an error, without the advice for users of Node.js that follows some TLS errors. */
const reasonOf = ({ message }: Error): string =>
  message.replace(/; if the root CA is installed locally.*$/s, '')

/** TCP or TLS socket. */
export class SocketWire implements Wire {
  readonly #socket: Socket

  constructor(socket: Socket, user: WireUser) {
    this.#socket = socket
    let reason = gone
    socket.setNoDelay(true)
    socket.setKeepAlive(true, 30_000)
    socket.on('data', (chunk) => user.data(chunk))
    socket.on('error', (error) => {
      reason = reasonOf(error)
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

/** Maximum number of unread bytes of a peer that sends pings without reading the pongs. */
const maxPongBacklog = 1 << 16
/**
 * Maximum number of pings in half a minute. Pings do not pass the gatekeeper, so a higher rate counts as a
 * flood.
 */
const maxPings = 300

/** WebSocket (RFC 7118). */
export class WebSocketWire implements Wire {
  readonly #socket: WebSocket
  #hasReceived = true
  #pings = 0

  constructor(socket: WebSocket, user: WireUser) {
    this.#socket = socket
    let reason = gone
    socket.on('message', (data) => {
      this.#hasReceived = true
      user.data(data as Buffer)
    })
    socket.on('pong', () => {
      this.#hasReceived = true
    })
    socket.on('ping', () => {
      this.#hasReceived = true
      if (++this.#pings > maxPings || socket.bufferedAmount > maxPongBacklog) socket.terminate()
    })
    socket.on('error', (error) => {
      reason = reasonOf(error)
    })
    socket.on('close', () => user.ended(reason))
  }

  get backlog(): number {
    return this.#socket.bufferedAmount
  }

  write(bytes: Buffer, done: (error?: Error | null) => void): void {
    // A text frame with invalid UTF-8 would end the connection (RFC 6455 8.1).
    this.#socket.send(bytes, { binary: !isUtf8(bytes) }, done)
  }

  finish(): void {
    this.#socket.close(1002)
  }

  destroy(): void {
    this.#socket.terminate()
  }

  probe(): void {
    if (!this.#hasReceived) {
      this.#socket.terminate()
      return
    }
    this.#hasReceived = false
    this.#pings = 0
    this.#socket.ping()
  }
}
