import { connect, createServer, type Server, type Socket } from 'node:net'
import type { Clock, Timer } from '../../clock.ts'
import { SipParseError } from '../message/error.ts'
import type { Limits } from '../message/limits.ts'
import { StreamFramer } from './framer.ts'
import { type Endpoint, type Flow, type Gatekeeper, openGate, type TransportSink } from './types.ts'

const pong = Buffer.from('\r\n')
/** A message that has begun, and the first one on a connection, must be there within this time, in ms. */
const messageTimeout = 30_000
/** A connection that we make must be there within this time, in ms: before the request on it has timed out (timers B and F). */
const connectTimeout = 10_000
/** After a fault in the stream, the answer to it must be taken within this time, in ms. */
const endTimeout = 2_000
/** Bytes that may wait for a peer that does not read. */
const backlogLimit = 1 << 20

interface Owner {
  readonly local: Endpoint
  readonly sink: TransportSink
  readonly limits: Limits
  readonly clock: Clock
  readonly gate: Gatekeeper
  gone(connection: TcpConnection): void
}

/** One TCP connection, accepted or made by us. */
class TcpConnection implements Flow {
  readonly reliable = true
  readonly remote: Endpoint
  readonly #socket: Socket
  readonly #owner: Owner
  readonly #framer: StreamFramer
  /** What ends the connection if it comes to nothing. */
  #limit: Timer | undefined
  /** True once it is known to be good for something: a message came, or our own connection was made. */
  #proven = false
  /** True once the stream cannot be followed any further. */
  #ending = false
  #closed = false

  constructor(socket: Socket, remote: Endpoint, owner: Owner, accepted: boolean) {
    this.#socket = socket
    this.remote = remote
    this.#owner = owner
    this.#framer = new StreamFramer(owner.limits)
    this.#within(accepted ? messageTimeout : connectTimeout)
    if (!accepted) socket.once('connect', () => this.#prove())
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

  /** Ends the connection at once. */
  destroy(): void {
    this.#socket.destroy()
  }

  #read(chunk: Buffer): void {
    if (this.#closed || this.#ending) return
    if (!this.#owner.gate.admits('tcp', this.remote.address, chunk)) {
      this.destroy()
      return
    }
    let complete = false
    try {
      for (const item of this.#framer.push(chunk)) {
        complete = true
        if (item.kind === 'message') this.#owner.sink.received(item.message, this, item.size)
        else if (item.kind === 'ping') this.send(pong)
        else this.#owner.sink.malformed(item.error, this)
      }
    } catch (error) {
      if (!(error instanceof SipParseError)) throw error
      this.#end(error)
      return
    }
    this.#watch(complete)
  }

  /** Answers a fault in the stream and ends it. Nothing more is read: a peer that does not take the answer cannot go on sending. */
  #end(error: SipParseError): void {
    this.#ending = true
    this.#owner.sink.malformed(error, this)
    this.#socket.destroySoon()
    this.#within(endTimeout)
  }

  /** A stalled or silent peer does not hold a connection for ever; one that sends whole messages may, however they are cut. */
  #watch(complete: boolean): void {
    if (complete || (this.#proven && !this.#framer.partial)) this.#prove()
    if (this.#framer.partial && !this.#limit && !this.#closed) this.#within(messageTimeout)
  }

  #prove(): void {
    this.#proven = true
    this.#limit?.cancel()
    this.#limit = undefined
  }

  #within(ms: number): void {
    this.#limit?.cancel()
    this.#limit = this.#owner.clock.after(ms, () => this.destroy())
  }

  #ended(): void {
    if (this.#closed) return
    this.#closed = true
    this.#limit?.cancel()
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
  readonly #gate: Gatekeeper
  readonly #connections = new Map<string, TcpConnection>()
  #local: Endpoint = { protocol: 'tcp', address: '', port: 0 }

  constructor(
    sink: TransportSink,
    limits: Limits,
    clock: Clock,
    maxConnections: number,
    gate: Gatekeeper = openGate,
  ) {
    this.#gate = gate
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
    return this.#keep(connect({ host: address, port }), address, port, false)
  }

  /** Closes the listener and every connection. */
  close(): Promise<void> {
    for (const connection of [...this.#connections.values()]) connection.destroy()
    return new Promise((resolve) => this.#server.close(() => resolve()))
  }

  #accept(socket: Socket): void {
    const address = socket.remoteAddress?.replace(/^::ffff:(?=[0-9.]+$)/, '')
    if (!address || !socket.remotePort || this.#isFull(address) || !this.#gate.accepts('tcp', address)) {
      socket.on('error', () => {})
      socket.destroy()
      return
    }
    this.#keep(socket, address, socket.remotePort, true)
  }

  /** No one source may take all connections from the others. */
  #isFull(address: string): boolean {
    if (this.#connections.size >= this.#maxConnections) return true
    let same = 0
    for (const { remote } of this.#connections.values()) if (remote.address === address) same++
    return same >= Math.ceil(this.#maxConnections / 4)
  }

  #keep(socket: Socket, address: string, port: number, accepted: boolean): TcpConnection {
    const key = `${address}|${port}`
    const connection: TcpConnection = new TcpConnection(
      socket,
      { protocol: 'tcp', address, port },
      {
        local: this.#local,
        sink: this.#sink,
        limits: this.#limits,
        clock: this.#clock,
        gate: this.#gate,
        gone: (lost) => {
          if (this.#connections.get(key) === lost) this.#connections.delete(key)
          this.#sink.lost(lost, 'the connection is closed')
        },
      },
      accepted,
    )
    this.#connections.set(key, connection)
    return connection
  }
}
