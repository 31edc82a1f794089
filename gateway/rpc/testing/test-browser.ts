/**
 * Test helpers: a listening server, and a browser with a real WebSocket.
 */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocket } from 'ws'

/** Frame as received. */
export type AnyFrame = Record<string, unknown>

/** Starts an HTTP server on a free port of the loopback. */
export const listeningServer = async (): Promise<{
  server: Server
  port: number
  close: () => Promise<void>
}> => {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
  return { server, port: (server.address() as AddressInfo).port, close }
}

/** JSON-RPC client that acknowledges every request, and keeps all frames. */
export class TestBrowser {
  readonly socket: WebSocket
  /** Requests that the server sent, in order. */
  readonly requests: AnyFrame[] = []
  /** Frames of any kind, in order. */
  readonly frames: AnyFrame[] = []
  acknowledges = true
  #waiting: {
    readonly matches: (frame: AnyFrame) => boolean
    readonly resolve: (frame: AnyFrame) => void
  }[] = []
  #ids = 0
  #closed: Promise<number>

  constructor(socket: WebSocket) {
    this.socket = socket
    this.#closed = new Promise((resolve) => socket.on('close', resolve))
    socket.on('message', (data) => this.#receive(JSON.parse(data.toString())))
  }

  /** Opens a connection from an address of the loopback, and waits until it is open. */
  static async open(
    port: number,
    path = '/',
    headers: Record<string, string> = {},
    localAddress = '127.0.0.1',
  ): Promise<TestBrowser> {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers, localAddress })
    const browser = new TestBrowser(socket)
    await once(socket, 'open')
    return browser
  }

  /** Resolves with the close code. */
  get closed(): Promise<number> {
    return this.#closed
  }

  raw(text: string | Buffer): void {
    this.socket.send(text)
  }

  /** Sends a request and returns the response frame. */
  async send(method: string, params: unknown): Promise<AnyFrame> {
    const id = `t${++this.#ids}`
    const answer = this.frame((frame) => frame.id === id && !('method' in frame))
    this.raw(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    return answer
  }

  /** Returns the first matching frame, past or future; each frame is returned once. */
  async frame(matches: (frame: AnyFrame) => boolean): Promise<AnyFrame> {
    const index = this.frames.findIndex(matches)
    if (index >= 0) return this.frames.splice(index, 1)[0] as AnyFrame
    return new Promise((resolve) => this.#waiting.push({ matches, resolve }))
  }

  /** Resolves when all frames that the server has sent have arrived. */
  async settled(): Promise<void> {
    this.socket.ping()
    await once(this.socket, 'pong')
  }

  /** Closes the connection. `code`: 1001 as browsers do whose page is left; default none. */
  async close(code?: number): Promise<void> {
    this.socket.close(code)
    await this.#closed
  }

  #receive(frame: AnyFrame): void {
    if ('method' in frame) {
      this.requests.push(frame)
      if (this.acknowledges) this.raw(JSON.stringify({ jsonrpc: '2.0', id: frame.id, result: {} }))
    }
    const index = this.#waiting.findIndex(({ matches }) => matches(frame))
    if (index < 0) this.frames.push(frame)
    else this.#waiting.splice(index, 1)[0]?.resolve(frame)
  }
}
