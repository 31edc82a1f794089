/** Server of an engine's protocol for tests: the test says what it sends. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, vi } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'

/** Message in either direction. */
export type ServerMessage = Record<string, unknown>

/** One connection, with all that was received. */
export class EngineConnection {
  readonly socket: WebSocket
  readonly request: IncomingMessage
  readonly messages: ServerMessage[] = []
  readonly binary: Buffer[] = []
  #taken = 0

  constructor(socket: WebSocket, request: IncomingMessage) {
    this.socket = socket
    this.request = request
    socket.on('error', () => {})
    socket.on('message', (data, isBinary) => {
      if (isBinary) this.binary.push(data as Buffer)
      else this.messages.push(JSON.parse(String(data)) as ServerMessage)
    })
  }

  /** Sends messages, in order. */
  send(...messages: readonly (ServerMessage | string | Buffer)[]): void {
    for (const message of messages)
      this.socket.send(
        typeof message === 'string' || Buffer.isBuffer(message) ? message : JSON.stringify(message),
      )
  }

  /** Waits for a further message that contains the members. Messages before it are passed over. */
  async next(members: ServerMessage): Promise<ServerMessage> {
    let at = -1
    await vi.waitFor(
      () => {
        at = this.messages.findIndex((each, index) => index >= this.#taken && matches(each, members))
        if (at < 0) expect(this.messages.slice(this.#taken)).toContainEqual(expect.objectContaining(members))
      },
      { timeout: 5000, interval: 5 },
    )
    this.#taken = at + 1
    return this.messages[at]!
  }

  /** Waits until the client has received everything that was sent so far. */
  async settled(): Promise<void> {
    const pong = once(this.socket, 'pong')
    this.socket.ping()
    await pong
  }

  /** Messages with the members, of all that were received. */
  all(members: ServerMessage): readonly ServerMessage[] {
    return this.messages.filter((each) => matches(each, members))
  }
}

const matches = (message: ServerMessage, members: ServerMessage): boolean =>
  expect.objectContaining(members).asymmetricMatch(message)

/** The server, on a free port of 127.0.0.1. */
export class EngineServer {
  readonly connections: EngineConnection[] = []
  /** Status that opening requests are answered with; undefined: accepted. */
  status: number | undefined
  /** Answers requests that are no WebSockets. */
  onRequest: (request: IncomingMessage, body: string) => { status: number; body: string } = () => ({
    status: 404,
    body: '',
  })
  readonly #http: Server
  readonly #sockets = new WebSocketServer({ noServer: true })

  private constructor() {
    this.#http = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const { status, body } = this.onRequest(request, Buffer.concat(chunks).toString())
      response.writeHead(status, { 'content-type': 'application/json' }).end(body)
    })
    this.#http.on('upgrade', (request, socket, head) => {
      if (this.status !== undefined) {
        const location = this.status < 400 ? 'Location: ws://127.0.0.1:1/\r\n' : ''
        socket.end(`HTTP/1.1 ${this.status} No\r\n${location}Content-Length: 0\r\n\r\n`)
        return
      }
      this.#sockets.handleUpgrade(request, socket, head, (opened) =>
        this.connections.push(new EngineConnection(opened, request)),
      )
    })
  }

  static async open(): Promise<EngineServer> {
    const server = new EngineServer()
    server.#http.listen(0, '127.0.0.1')
    await once(server.#http, 'listening')
    return server
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#http.address() as AddressInfo).port}`
  }

  /** Waits for a connection. */
  async connection(at = 0): Promise<EngineConnection> {
    await vi.waitFor(() => expect(this.connections.length).toBeGreaterThan(at), {
      timeout: 5000,
      interval: 5,
    })
    return this.connections[at]!
  }

  async close(): Promise<void> {
    for (const { socket } of this.connections) socket.terminate()
    this.#http.closeAllConnections()
    this.#http.close()
    await once(this.#http, 'close')
  }
}
