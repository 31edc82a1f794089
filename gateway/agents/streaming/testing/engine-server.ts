/** HTTP server of an engine for tests: the test answers each request. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One request that was received whole. */
export interface ReceivedRequest {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
  readonly response: ServerResponse
  /** Body as JSON. */
  json(): Record<string, unknown>
  /** Resolves when the connection was closed before the end of the response. */
  readonly aborted: Promise<void>
}

/** The server, on a free port of 127.0.0.1. */
export class EngineServer {
  readonly requests: ReceivedRequest[] = []
  readonly #server: Server
  #waiting: ((request: ReceivedRequest) => void)[] = []
  #unread: ReceivedRequest[] = []

  private constructor(server: Server) {
    this.#server = server
    server.on('request', (request, response) => void this.#receive(request, response))
  }

  static async open(): Promise<EngineServer> {
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new EngineServer(server)
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Resolves with the next request. */
  next(): Promise<ReceivedRequest> {
    const request = this.#unread.shift()
    return request ? Promise.resolve(request) : new Promise((resolve) => this.#waiting.push(resolve))
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const aborted = new Promise<void>((resolve) =>
      response.on('close', () => {
        if (!response.writableEnded) resolve()
      }),
    )
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    const body = Buffer.concat(pieces)
    const { url = '', headers } = request
    const received = { path: url, headers, body, response, aborted, json: () => JSON.parse(body.toString()) }
    this.requests.push(received)
    const waiter = this.#waiting.shift()
    if (waiter) waiter(received)
    else this.#unread.push(received)
  }
}
