import { connect, createServer, type Server, type Socket } from 'node:net'
import type { Clock, Timer } from '../../clock.ts'
import { SipParseError } from '../message/error.ts'
import type { Limits } from '../message/limits.ts'
import { StreamFramer } from './framer.ts'
import type { Endpoint, Flow, TransportSink } from './types.ts'

const pong = Buffer.from('\r\n')
/** A message that has begun must end within this time, in ms; a stalled peer does not hold a connection for ever. */
const messageTimeout = 30_000
/** Bytes that may wait for a peer that does not read. */
const backlogLimit = 1 << 20

interface Owner {
  readonly local: Endpoint
  readonly sink: TransportSink
  readonly limits: Limits
  readonly clock: Clock
  gone(connection: TcpConnection): void
}

/** One TCP connection, accepted or made by us. */
class TcpConnection implements Flow {
  readonly reliable = true
  readonly remote: Endpoint
  readonly #socket: Socket
  readonly #owner: Owner
  readonly #framer: StreamFramer
  #stall: Timer | undefined
  #closed = false

  constructor(socket: Socket, remote: Endpoint, owner: Owner) {
    this.#socket = socket
    this.remote = remote
    this.#owner = owner
    this.#framer = new StreamFramer(owner.limits)
    socket.setNoDelay(true)
    socket.setKeepAlive(true, 30_000)
    socket.on('data', (chunk) => this.#read(chunk))
    socket.on('error', () => {})
    socket.on('close', () => this.#ended())
  }

  get local(): Endpoint {
    return this.#owner.local
  }

  get closed(): boolean {
    return this.#closed
  }

  send(bytes: Buffer, failed?: (reason: string) => void): void {
    if (this.#closed) {
      if (failed) queueMicrotask(() => failed('the connection is closed'))
      return
    }
    if (this.#socket.writableLength > backlogLimit) this.#socket.destroy()
    this.#socket.write(bytes, (error) => {
      if (error) failed?.(error.message)
    })
  }

  /** Ends the connection; what was sent is still delivered. */
  end(): void {
    this.#socket.destroySoon()
  }

  /** Ends the connection at once. */
  destroy(): void {
    this.#socket.destroy()
  }

  #read(chunk: Buffer): void {
    if (this.#closed) return
    try {
      for (const item of this.#framer.push(chunk)) {
        if (item.kind === 'message') this.#owner.sink.received(item.message, this, item.size)
        else if (item.kind === 'ping') this.send(pong)
        else this.#owner.sink.malformed(item.error, this)
      }
    } catch (error) {
      if (!(error instanceof SipParseError)) throw error
      this.#owner.sink.malformed(error, this)
      this.end()
    }
    this.#watch()
  }

  #watch(): void {
    if (!this.#framer.partial) {
      this.#stall?.cancel()
      this.#stall = undefined
    } else if (!this.#stall && !this.#closed) {
      this.#stall = this.#owner.clock.after(messageTimeout, () => this.destroy())
    }
  }

  #ended(): void {
    if (this.#closed) return
    this.#closed = true
    this.#stall?.cancel()
    this.#owner.gone(this)
  }
}

/** One listening TCP socket with its connections, accepted and made. */
export class TcpTransport {
  readonly #server: Server
  readonly #sink: TransportSink
  readonly #limits: Limits
  readonly #clock: Clock
  readonly #maxConnections: number
  readonly #connections = new Map<string, TcpConnection>()
  #local: Endpoint = { protocol: 'tcp', address: '', port: 0 }

  constructor(sink: TransportSink, limits: Limits, clock: Clock, maxConnections: number) {
    this.#sink = sink
    this.#limits = limits
    this.#clock = clock
    this.#maxConnections = maxConnections
    this.#server = createServer((socket) => this.#accept(socket))
  }

  /** The bound address. */
  get local(): Endpoint {
    return this.#local
  }

  /** Open connections. */
  get connections(): number {
    return this.#connections.size
  }

  /** Binds and listens; rejects with the system's error. */
  open(address: string, port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(port, address, () => {
        this.#server.off('error', reject)
        this.#server.on('error', () => {})
        const bound = this.#server.address()
        this.#local = {
          protocol: 'tcp',
          address,
          port: typeof bound === 'object' && bound ? bound.port : port,
        }
        resolve()
      })
    })
  }

  /** The connection to a destination: one that is open, whoever opened it (RFC 3261 18), or a new one. */
  flow(address: string, port: number): Flow {
    const open = this.#connections.get(`${address}|${port}`)
    if (open && !open.closed) return open
    return this.#keep(connect({ host: address, port }), address, port)
  }

  /** Closes the listener and every connection. */
  close(): Promise<void> {
    for (const connection of [...this.#connections.values()]) connection.destroy()
    return new Promise((resolve) => this.#server.close(() => resolve()))
  }

  #accept(socket: Socket): void {
    const address = socket.remoteAddress?.replace(/^::ffff:(?=[0-9.]+$)/, '')
    if (this.#connections.size >= this.#maxConnections || !address || !socket.remotePort) {
      socket.on('error', () => {})
      socket.destroy()
      return
    }
    this.#keep(socket, address, socket.remotePort)
  }

  #keep(socket: Socket, address: string, port: number): TcpConnection {
    const key = `${address}|${port}`
    const connection: TcpConnection = new TcpConnection(
      socket,
      { protocol: 'tcp', address, port },
      {
        local: this.#local,
        sink: this.#sink,
        limits: this.#limits,
        clock: this.#clock,
        gone: (lost) => {
          if (this.#connections.get(key) === lost) this.#connections.delete(key)
          this.#sink.lost(lost)
        },
      },
    )
    this.#connections.set(key, connection)
    return connection
  }
}
