/** Gateway for tests, over a real WebSocket: the test decides its answers and events. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'
import type { SessionTimers } from './session.ts'
import type { Values } from './wire.ts'

/** Received request. */
export interface Asked {
  readonly method: string
  readonly params: Values
}

/** Answer to a request; `error` makes it a JSON-RPC error. */
export type Answer = Values | { readonly error: Values }

const connected = (protocol: string): Values => ({
  protocol,
  identity: 'i',
  authorization: { project: 'demo', signature: protocol.split('_')[1] },
})

/** Gateway that listens on the loopback interface. */
export class TestGateway {
  readonly asked: Asked[] = []
  /** Answers by method; the default is `200`. */
  readonly answers = new Map<string, (params: Values) => Answer>()
  /** Methods that are never answered. */
  readonly unanswered = new Set<string>()
  /** Number of acknowledged events. */
  acknowledged = 0
  protocol = 'signalwire_s_1_demo'
  readonly #server: WebSocketServer
  #socket: WebSocket | undefined
  #waiting: { readonly method: string; readonly resolve: (asked: Asked) => void }[] = []
  #events = 0

  constructor(server: WebSocketServer) {
    this.#server = server
    server.on('connection', (socket) => {
      this.#socket = socket
      socket.on('message', (data) => this.#receive(socket, JSON.parse(String(data))))
    })
  }

  static async open(): Promise<TestGateway> {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
    await once(server, 'listening')
    return new TestGateway(server)
  }

  get host(): string {
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Returns the next request of a method. */
  next(method: string): Promise<Asked> {
    const index = this.asked.findIndex((asked) => asked.method === method)
    const found = index >= 0 ? this.asked.splice(index, 1)[0] : undefined
    if (found) return Promise.resolve(found)
    return new Promise((resolve) => this.#waiting.push({ method, resolve }))
  }

  /** Sends an event of a call. */
  tell(type: string, params: Values): void {
    const event = { event_type: `calling.call.${type}`, params }
    const id = `e${++this.#events}`
    this.#socket?.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'signalwire.event', params: event }))
  }

  /** Closes the connection. */
  cut(): void {
    this.#socket?.terminate()
  }

  /** Sends an invalid frame. */
  babble(): void {
    this.#socket?.send('{')
  }

  async close(): Promise<void> {
    this.cut()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #receive(socket: WebSocket, frame: Values): void {
    if (typeof frame.method !== 'string') {
      this.acknowledged++
      return
    }
    const asked = { method: frame.method, params: frame.params as Values }
    const answer = this.answers.get(asked.method)?.(asked.params)
    const given =
      answer ?? (asked.method === 'signalwire.connect' ? connected(this.protocol) : { code: '200' })
    const outcome = 'error' in given ? given : { result: given }
    if (!this.unanswered.has(asked.method))
      socket.send(JSON.stringify({ jsonrpc: '2.0', id: frame.id, ...outcome }))
    const index = this.#waiting.findIndex(({ method }) => method === asked.method)
    if (index < 0) this.asked.push(asked)
    else this.#waiting.splice(index, 1)[0]?.resolve(asked)
  }
}

/** Timers whose waits end at once; records the requested durations in milliseconds. */
export class NoWaits implements SessionTimers {
  readonly waits: number[] = []
  readonly wait = async (ms: number): Promise<void> => {
    this.waits.push(ms)
    await new Promise((resolve) => setImmediate(resolve))
  }
  #idle: (() => void)[] = []
  readonly idle = (): Promise<void> => new Promise((resolve) => this.#idle.push(resolve))

  /** Ends all idle waits. */
  beat(): void {
    for (const resolve of this.#idle.splice(0)) resolve()
  }
}
