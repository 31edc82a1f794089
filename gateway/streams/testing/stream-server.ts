/** A customer's server that takes streams, for tests. */
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'

/** A message that was received. */
export interface StreamMessage {
  readonly event: string
  readonly [key: string]: unknown
}

/** The server, on a free port of 127.0.0.1. */
export class TestStreamServer {
  readonly sockets: WebSocket[] = []
  readonly requests: IncomingMessage[] = []
  /** Of all connections. */
  readonly messages: StreamMessage[] = []
  readonly #server: WebSocketServer

  private constructor(server: WebSocketServer) {
    this.#server = server
    server.on('connection', (socket, request) => {
      this.sockets.push(socket)
      this.requests.push(request)
      socket.on('message', (data) => this.messages.push(JSON.parse(String(data)) as StreamMessage))
    })
  }

  static async open(): Promise<TestStreamServer> {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
    await once(server, 'listening')
    return new TestStreamServer(server)
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get url(): string {
    return `ws://127.0.0.1:${this.port}/stream`
  }

  /** The messages of one kind. */
  of(event: string): StreamMessage[] {
    return this.messages.filter((message) => message.event === event)
  }

  /** Tells the first that has connected. */
  tell(message: object | string): void {
    this.sockets[0]?.send(typeof message === 'string' ? message : JSON.stringify(message))
  }

  async close(): Promise<void> {
    for (const client of this.#server.clients) client.terminate()
    this.#server.close()
    await once(this.#server, 'close')
  }
}
