/** A server that speaks the protocol of vosk-server, for tests: it understands what the test says. */
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'

/** One connection to it. */
export class TestVoskSession {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly config: unknown[] = []
  /** Octets of audio. */
  heard = Buffer.alloc(0)
  eof = false
  readonly socket: WebSocket

  /** `last` returns the answer to the client's end; undefined: no answer. */
  constructor(socket: WebSocket, request: IncomingMessage, last: () => object | undefined) {
    this.socket = socket
    this.path = request.url ?? ''
    this.headers = request.headers
    socket.on('message', (data, binary) => {
      if (binary) {
        this.heard = Buffer.concat([this.heard, data as Buffer])
        return
      }
      const message = JSON.parse(String(data)) as { config?: unknown; eof?: number }
      if (message.config) this.config.push(message.config)
      this.eof ||= message.eof === 1
      const answer = message.eof ? last() : undefined
      if (!answer) return
      this.send(answer)
      socket.close()
    })
  }

  send(message: object | string): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message))
  }
}

/** The server, on a free port of 127.0.0.1. */
export class TestVoskServer {
  readonly sessions: TestVoskSession[] = []
  /** Answer to the end of a client; undefined: no answer. */
  last: object | undefined = { text: '' }
  /** Whether every client receives 401. */
  refuse = false
  readonly #server: WebSocketServer

  private constructor(server: WebSocketServer) {
    this.#server = server
    server.options.verifyClient = () => !this.refuse
    server.on('connection', (socket, request) =>
      this.sessions.push(new TestVoskSession(socket, request, () => this.last)),
    )
  }

  static async open(): Promise<TestVoskServer> {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0, verifyClient: () => true })
    await once(server, 'listening')
    return new TestVoskServer(server)
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    for (const client of this.#server.clients) client.terminate()
    this.#server.close()
    await once(this.#server, 'close')
  }
}
