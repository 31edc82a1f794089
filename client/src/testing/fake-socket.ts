import type { Socket, SocketListener } from '../environment.ts'
import type { Json } from '../frames.ts'

/** The server's end of one WebSocket. */
export class FakeSocket implements Socket {
  readonly url: string
  readonly sent: Json[] = []
  closed = false
  #opened = false
  #listener: SocketListener

  constructor(url: string, listener: SocketListener) {
    this.url = url
    this.#listener = listener
  }

  send(text: string): void {
    if (!this.#opened) throw new DOMException('still connecting', 'InvalidStateError')
    this.sent.push(JSON.parse(text))
  }

  close(): void {
    this.closed = true
  }

  open(): void {
    this.#opened = true
    this.#listener.opened()
  }

  /** Closes the socket as the network would. */
  drop(): void {
    this.closed = true
    this.#listener.closed()
  }

  push(frame: Json): void {
    this.#listener.received(JSON.stringify(frame))
  }

  raw(data: unknown): void {
    this.#listener.received(data)
  }

  event(event_type: string, params: Json, node_id = 'n1'): void {
    this.push({
      jsonrpc: '2.0',
      id: crypto.randomUUID(),
      method: 'signalwire.event',
      params: { event_type, node_id, params },
    })
  }

  verto(method: string, params: Json): void {
    this.event('webrtc.message', { jsonrpc: '2.0', id: 7, method, params })
  }

  /** Requests of a method; verto requests are found by the name of the verto message. */
  requests(method: string): { id: string; params: Record<string, never>; message: Json }[] {
    return this.sent
      .filter((frame) => frame.method === method || vertoOf(frame)?.method === method)
      .map((frame) => ({
        id: frame.id as string,
        params: frame.params as Record<string, never>,
        message: vertoOf(frame) ?? {},
      }))
  }

  /** Answers the last request of a method. */
  reply(method: string, result: Json = {}): void {
    this.push({ jsonrpc: '2.0', id: this.requests(method).at(-1)?.id, result })
  }

  /** Answers all other pending requests, so that they do not time out. */
  replyAll(): void {
    for (const { id } of this.sent.filter(({ method }) => method !== undefined))
      this.push({ jsonrpc: '2.0', id, result: {} })
  }

  refuse(method: string, code: number, message: string): void {
    this.push({ jsonrpc: '2.0', id: this.requests(method).at(-1)?.id, error: { code, message } })
  }

  /** Opens the socket and accepts the handshake. */
  welcome(protocol = 'signalwire_j_1_p', extra: Json = {}): void {
    this.open()
    this.reply('signalwire.connect', {
      authorization: { jti: 'j', project_id: 'p', fabric_subscriber: { expires_at: 1_700_003_600 } },
      protocol,
      ...extra,
    })
  }
}

const vertoOf = (frame: Json): Json | undefined => (frame.params as { message?: Json } | undefined)?.message
