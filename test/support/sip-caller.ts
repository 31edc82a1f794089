import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { type TraceMessage, traceOnFailure } from './failure-report.ts'
import { statusOf } from './sip-socket.ts'
import { headerOf } from './sip-text.ts'

/** Content of an INVITE of a {@link SipCaller}. */
export interface CallOptions {
  /**
   * Address and port of the audio in the SDP. Default: the caller's address, with a port that has no
   * listener.
   */
  readonly media?: { readonly address: string; readonly port: number }
  /** Whether the SDP has telephone events of RFC 4733, with the payload type 101. Default false. */
  readonly hasKeys?: boolean
  /** Further header lines. */
  readonly headers?: readonly string[]
  /** Whether the 200 is acknowledged. Default true. */
  readonly acknowledges?: boolean
}

/** A call of a {@link SipCaller}, with its final response. */
export interface PlacedCall {
  readonly status: number
  readonly response: string
  /** Milliseconds from the INVITE to the final response. */
  readonly ms: number
  /** Sends BYE; resolves with the status of its response. */
  hangUp(): Promise<number>
}

/** Maximum wait for a final response, in ms. */
const maxWaitMs = 10_000
let count = 0

/**
 * A caller over UDP at a loopback address. Counts the bytes it sends and receives, and retransmits nothing.
 */
export class SipCaller {
  readonly #socket: Socket
  readonly #port: number
  readonly #waiting = new Map<string, (response: string) => void>()
  readonly address: string
  readonly #trace: TraceMessage
  /** Number of sent and received bytes in datagrams. */
  bytesSent = 0
  bytesReceived = 0
  /** Received datagrams. */
  readonly received: string[] = []

  constructor(socket: Socket, address: string, port: number, trace: TraceMessage) {
    this.#socket = socket
    this.#trace = trace
    this.#port = port
    this.address = address
    socket.on('message', (bytes) => this.#receive(bytes))
  }

  /** Opens a caller to a port of 127.0.0.1. Failed tests report its messages, unless `isTraced` is false. */
  static async open(port: number, address: string, isTraced = true): Promise<SipCaller> {
    const socket = createSocket('udp4').bind(0, address)
    await once(socket, 'listening')
    const trace = isTraced ? traceOnFailure(`caller at ${address}`) : () => {}
    return new SipCaller(socket, address, port, trace)
  }

  /** Calls a URI. Resolves with the final response, or status 0 after a time-out. */
  async call(uri: string, options: CallOptions = {}): Promise<PlacedCall> {
    const own = `${process.pid}-${++count}`
    const began = performance.now()
    const answered = this.#finalOf(`INVITE ${own}`)
    this.invite(uri, own, options)
    const response = await answered
    const ms = performance.now() - began
    const status = statusOf(response)
    const to = headerOf(response, 'To') ?? `<${uri}>`
    if (status > 0 && (status >= 300 || options.acknowledges !== false))
      this.send(this.#request('ACK', uri, own, 1, to, status >= 300 ? own : `${own}a`))
    const hangUp = async (): Promise<number> => {
      const done = this.#finalOf(`BYE ${own}`)
      this.send(this.#request('BYE', uri, own, 2, to, `${own}b`))
      return statusOf(await done)
    }
    return { status, response, ms, hangUp }
  }

  /** Sends an INVITE and waits for nothing. */
  invite(uri: string, own = `${process.pid}-${++count}`, options: CallOptions = {}): void {
    const { media = { address: this.address, port: 9 }, headers = [], hasKeys } = options
    const body = [
      'v=0',
      `o=- 1 1 IN IP4 ${media.address}`,
      's=-',
      `c=IN IP4 ${media.address}`,
      't=0 0',
      `m=audio ${media.port} RTP/AVP 0${hasKeys ? ' 101' : ''}`,
      ...(hasKeys ? ['a=rtpmap:101 telephone-event/8000'] : []),
      '',
    ].join('\r\n')
    const type = 'Content-Type: application/sdp'
    this.send(this.#request('INVITE', uri, own, 1, `<${uri}>`, own, [type, ...headers], body))
  }

  /** Sends a request outside calls, and waits for nothing. */
  ask(method: string, uri: string): void {
    const own = `${process.pid}-${++count}`
    this.send(this.#request(method, uri, own, 1, `<${uri}>`, own))
  }

  /** Sends a text unchanged. */
  send(text: string): void {
    this.bytesSent += Buffer.byteLength(text)
    this.#trace('sent', text)
    this.#socket.send(text, this.#port, '127.0.0.1')
  }

  /** Answers a request with 200. Resolves when the response was sent. */
  accept(request: string): Promise<void> {
    const copied = request.split('\r\n').filter((line) => /^(via|from|to|call-id|cseq):/i.test(line))
    const text = ['SIP/2.0 200 OK', ...copied, 'Content-Length: 0', '', ''].join('\r\n')
    this.#trace('sent', text)
    return new Promise((resolve) => this.#socket.send(text, this.#port, '127.0.0.1', () => resolve()))
  }

  /** Idempotent. */
  close(): void {
    for (const settle of this.#waiting.values()) settle('')
    this.#waiting.clear()
    try {
      this.#socket.close()
    } catch {
      // The socket is already closed.
    }
  }

  #finalOf(key: string): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<string>()
    const timer = setTimeout(() => this.#settle(key, ''), maxWaitMs)
    this.#waiting.set(key, (response) => {
      clearTimeout(timer)
      resolve(response)
    })
    return promise
  }

  #settle(key: string, response: string): void {
    this.#waiting.get(key)?.(response)
    this.#waiting.delete(key)
  }

  #receive(bytes: Buffer): void {
    this.bytesReceived += bytes.length
    const text = bytes.toString()
    this.received.push(text)
    this.#trace('received', text)
    if (statusOf(text) < 200) return
    const [, method = ''] = (headerOf(text, 'CSeq') ?? '').split(' ')
    this.#settle(`${method} ${headerOf(text, 'Call-ID')}`, text)
  }

  #request(
    method: string,
    uri: string,
    own: string,
    seq: number,
    to: string,
    branch: string,
    headers: readonly string[] = [],
    body = '',
  ): string {
    const { port } = this.#socket.address()
    const lines = [
      `${method} ${uri} SIP/2.0`,
      `Via: SIP/2.0/UDP ${this.address}:${port};branch=z9hG4bK${branch};rport`,
      `From: <sip:caller@${this.address}>;tag=t${own}`,
      `To: ${to}`,
      `Call-ID: ${own}`,
      `CSeq: ${seq} ${method}`,
      `Contact: <sip:caller@${this.address}:${port}>`,
      'Max-Forwards: 70',
      ...headers,
      `Content-Length: ${Buffer.byteLength(body)}`,
    ]
    return `${lines.join('\r\n')}\r\n\r\n${body}`
  }
}
