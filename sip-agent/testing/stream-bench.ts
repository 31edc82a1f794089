import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { afterEach, beforeEach, expect } from 'vitest'
import { FakeClock } from '../clock.ts'
import { defaultMessageLimits } from '../message/limits.ts'
import { StreamTransport } from '../transport/stream.ts'
import { TlsSettings } from '../transport/tls.ts'
import type { Gatekeeper, Hop } from '../transport/types.ts'
import { TestSink } from './sink.ts'

/**
 * A TCP transport of at most 8 connections on 127.0.0.1, and its far sides; anew for each test, which has to
 * leave nothing open.
 */
export class StreamBench {
  readonly clock = new FakeClock()
  readonly sink = new TestSink()
  readonly transport: StreamTransport
  readonly #sockets: Socket[] = []
  readonly #servers: Server[] = []

  constructor(gate: Gatekeeper) {
    const { clock, sink } = this
    const options = { sink, gate, limits: defaultMessageLimits, clock, maxConnections: 8 }
    this.transport = new StreamTransport('tcp', { ...options, tls: new TlsSettings(undefined) })
  }

  /** Connects from a local address; the connection may be closed at once. */
  async dial(localAddress = '127.0.0.1'): Promise<Socket> {
    const socket = this.#keep(connect({ port: this.transport.local.port, host: '127.0.0.1', localAddress }))
    await once(socket, 'connect')
    return socket
  }

  /** Writes, and waits until `count` more messages have arrived. */
  async say(socket: Socket, text: string, count = 1): Promise<void> {
    const wanted = this.sink.messages.length + count
    socket.write(text)
    await this.sink.until(() => this.sink.messages.length >= wanted)
  }

  /** Listens as a carrier does, and returns the address. */
  async listen(taken: (socket: Socket) => void): Promise<Hop> {
    const server = createServer((socket) => taken(this.#keep(socket)))
    this.#servers.push(server)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    return { protocol: 'tcp', address: '127.0.0.1', port, host: 'carrier.example' }
  }

  /** Closes the listener of {@link listen}. */
  async deafen(): Promise<void> {
    await Promise.all(this.#servers.map((server) => new Promise((resolve) => server.close(resolve))))
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    for (const server of this.#servers) server.close()
    await this.transport.close()
    while (this.transport.connections > 0) await new Promise(setImmediate)
    expect([this.transport.connections, this.clock.running]).toEqual([0, 0])
  }

  #keep(socket: Socket): Socket {
    socket.on('error', () => {})
    this.#sockets.push(socket)
    return socket
  }
}

/**
 * Opens a {@link StreamBench} for each test of the file that calls this; `gate` is asked for its gatekeeper
 * then.
 */
export const streamBenches = (gate: () => Gatekeeper, began: (bench: StreamBench) => void): void => {
  let bench: StreamBench
  beforeEach(async () => {
    bench = new StreamBench(gate())
    await bench.transport.open('127.0.0.1', 0)
    began(bench)
  })
  afterEach(() => bench.close())
}
