import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Json } from './agent-call.ts'
import { traceOnFailure } from './failure-report.ts'
import { until } from './until.ts'

/** Connection of a gateway to a {@link RelayServer}. */
export class RelayConnection {
  readonly request: IncomingMessage
  readonly received: Json[] = []
  /** Close code; undefined while the connection is open. */
  closed: number | undefined
  readonly #socket: WebSocket

  constructor(
    socket: WebSocket,
    request: IncomingMessage,
    trace: (way: 'sent' | 'received', text: string) => void,
  ) {
    this.#socket = socket
    this.request = request
    socket.on('message', (data) => {
      trace('received', String(data))
      this.received.push(JSON.parse(String(data)) as Json)
    })
    socket.on('close', (code) => {
      this.closed = code
    })
  }

  /** Returns the messages of a type so far. */
  of(type: string): readonly Json[] {
    return this.received.filter((each) => each.type === type)
  }

  /** Waits for a message of a type that `holds` accepts, and returns the last one. */
  async gets(type: string, holds: (message: Json) => boolean = () => true): Promise<Json> {
    const found = await until(`the message ${type}`, () => this.of(type).findLast(holds))
    return found ?? {}
  }

  send(message: object | string): void {
    this.#socket.send(typeof message === 'string' ? message : JSON.stringify(message))
  }

  /** Sends a text word by word, with a pause of some ms after each. */
  async writes(text: string, ms = 10, more: object = {}): Promise<void> {
    for (const token of text.split(/(?<= )/)) {
      this.send({ type: 'text', token, last: false, ...more })
      await new Promise((resolve) => setTimeout(resolve, ms))
    }
    this.send({ type: 'text', token: '', last: true, ...more })
  }

  /** Closes the connection with a code, or without a handshake. */
  close(code?: number): void {
    if (code === undefined) this.#socket.terminate()
    else this.#socket.close(code)
  }
}

/** A customer's server that has the texts of conversations: each connection waits for its test. */
export class RelayServer {
  readonly connections: RelayConnection[] = []
  readonly #server: WebSocketServer
  readonly #taken = new Set<RelayConnection>()

  constructor(server: WebSocketServer) {
    const trace = traceOnFailure('text server of the customer')
    this.#server = server
    server.on('connection', (socket, request) =>
      this.connections.push(new RelayConnection(socket, request, trace)),
    )
  }

  /** Listens on a free port of 127.0.0.1. */
  static async open(): Promise<RelayServer> {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
    await once(server, 'listening')
    return new RelayServer(server)
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}/relay?line=1`
  }

  /** Waits for the next connection. */
  async connected(): Promise<RelayConnection> {
    const next = await until('a connection of the gateway', () =>
      this.connections.find((each) => !this.#taken.has(each)),
    )
    this.#taken.add(next!)
    return next!
  }

  async close(): Promise<void> {
    for (const client of this.#server.clients) client.terminate()
    this.#server.close()
    await once(this.#server, 'close')
  }
}
