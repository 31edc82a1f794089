import { createSocket, type Socket as UdpSocket } from 'node:dgram'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { checkMessage } from '../message/check.ts'
import { defaultMessageLimits } from '../message/limits.ts'
import type { SipMessage, SipRequest, SipResponse } from '../message/message.ts'
import { parseDatagram } from '../message/parse.ts'
import { StreamFramer } from '../transport/stream-framer.ts'

const sdp =
  'v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 4000 RTP/AVP 0\r\n'

/** A session description for tests, with a name by which it is recognised. */
export const testSdp = (name = '-'): string => sdp.replace('s=-', `s=${name}`)

/** Header lines that a peer's request adds or replaces. */
export type Extra = Readonly<Record<string, string>>

interface Call {
  readonly callId: string
  readonly from: string
  readonly to: string
  readonly target: string
  seq: number
}

let counter = 0

/** A far end made of a bare socket: sends exactly the messages that the test writes. */
export class Peer {
  readonly transport: 'udp' | 'tcp'
  /** Everything received that no test has taken yet. */
  readonly inbox: SipMessage[] = []
  #waiting: { test: (message: SipMessage) => boolean; take: (message: SipMessage) => void }[] = []
  #send: (text: string) => void = () => {}
  #close: () => void = () => {}
  /**
   * The last response to each request. A retransmission gets it again, as from every far end (RFC 3261 17.2).
   */
  readonly #replied = new Map<string, string>()
  /** INVITEs whose final response has its ACK. */
  readonly #acknowledged = new Set<string>()
  /** For TCP: ends the connection, and keeps the listener open. */
  hangUp: () => void = () => {}
  port = 0

  constructor(transport: 'udp' | 'tcp') {
    this.transport = transport
  }

  /** A UDP socket that sends to the latest sender, at first to `to`. */
  static udp(to = 0): Promise<Peer> {
    const peer = new Peer('udp')
    const socket: UdpSocket = createSocket('udp4')
    let port = to
    socket.on('message', (bytes, from) => {
      port = from.port
      peer.#received(checkMessage(parseDatagram(bytes)))
    })
    peer.#send = (text) => socket.send(text, port, '127.0.0.1')
    peer.#close = () => socket.close()
    return new Promise((resolve) =>
      socket.bind(0, '127.0.0.1', () => {
        peer.port = socket.address().port
        resolve(peer)
      }),
    )
  }

  /** A TCP connection to the agent. */
  static tcp(to: number): Promise<Peer> {
    const peer = new Peer('tcp')
    const socket = connect(to, '127.0.0.1')
    peer.#stream(socket)
    return new Promise((resolve) =>
      socket.once('connect', () => {
        peer.port = socket.localPort ?? 0
        resolve(peer)
      }),
    )
  }

  /** A listening TCP socket that uses the connection that was accepted last. */
  static tcpServer(): Promise<Peer> {
    const peer = new Peer('tcp')
    const server: Server = createServer((socket) => peer.#stream(socket, server))
    return new Promise((resolve) =>
      server.listen(0, '127.0.0.1', () => {
        const bound = server.address()
        peer.port = typeof bound === 'object' && bound ? bound.port : 0
        peer.#close = () => server.close()
        resolve(peer)
      }),
    )
  }

  #stream(socket: Socket, server?: Server): void {
    const framer = new StreamFramer(defaultMessageLimits)
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      for (const item of framer.push(chunk)) if (item.kind === 'message') this.#received(item.message)
    })
    this.#send = (text) => socket.write(text)
    this.hangUp = () => socket.destroy()
    this.#close = () => {
      socket.destroy()
      server?.close()
    }
  }

  #received(message: SipMessage): void {
    if (this.#isRepeated(message)) return
    const index = this.#waiting.findIndex((each) => each.test(message))
    if (index < 0) this.inbox.push(message)
    else this.#waiting.splice(index, 1)[0]?.take(message)
  }

  /**
   * Returns whether a message is a retransmission over UDP, which a busy machine may cause. No test may take
   * a retransmission for a new message. A request without a reply is delivered as often as it arrives.
   */
  #isRepeated(message: SipMessage): boolean {
    if (this.transport !== 'udp') return false
    if (message.kind === 'response')
      return this.#acknowledged.has(`${message.callId} ${message.seq} ${message.seqMethod}`)
    const reply = this.#replied.get(transactionOf(message))
    if (reply !== undefined) this.#send(reply)
    return reply !== undefined
  }

  #forget(test: (message: SipMessage) => boolean): void {
    const kept = this.inbox.filter((message) => !test(message))
    this.inbox.splice(0, this.inbox.length, ...kept)
  }

  #take(test: (message: SipMessage) => boolean): Promise<SipMessage> {
    const index = this.inbox.findIndex(test)
    if (index >= 0) return Promise.resolve(this.inbox.splice(index, 1)[0] as SipMessage)
    return new Promise((take) => this.#waiting.push({ test, take }))
  }

  /** The next response with this status (and CSeq method). */
  async response(status: number, method?: string): Promise<SipResponse> {
    const fits = (m: SipMessage) =>
      m.kind === 'response' && m.status === status && (!method || m.seqMethod === method)
    return (await this.#take(fits)) as SipResponse
  }

  /** The next request with this method. */
  async request(method: string): Promise<SipRequest> {
    return (await this.#take((m) => m.kind === 'request' && m.method === method)) as SipRequest
  }

  /** Sends text as it is. */
  raw(text: string): void {
    this.#send(text)
  }

  close(): void {
    this.#close()
  }

  /** The address of this peer as a URI. */
  get uri(): string {
    return `sip:peer@127.0.0.1:${this.port}${this.transport === 'tcp' ? ';transport=tcp' : ''}`
  }

  /** A new call towards `target`. */
  call(target: string): Call {
    const id = ++counter
    return {
      callId: `call-${id}@peer`,
      from: `<${this.uri}>;tag=from${id}`,
      to: `<${target}>`,
      target,
      seq: 1,
    }
  }

  /** Builds and sends a request of a call, and returns its branch. */
  send(
    method: string,
    call: Call,
    options: { to?: string; body?: string; extra?: Extra; branch?: string } = {},
  ): string {
    const { to = call.to, body = '', extra = {}, branch = `z9hG4bK${++counter}` } = options
    const headers: Record<string, string> = {
      Via: `SIP/2.0/${this.transport.toUpperCase()} 127.0.0.1:${this.port};branch=${branch};rport`,
      'Max-Forwards': '70',
      From: call.from,
      To: to,
      'Call-ID': call.callId,
      CSeq: `${call.seq} ${method}`,
      Contact: `<${this.uri}>`,
      ...(body !== '' && { 'Content-Type': 'application/sdp' }),
      ...extra,
      'Content-Length': String(body.length),
    }
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
    if (method === 'ACK' && this.transport === 'udp') {
      this.#acknowledged.add(`${call.callId} ${call.seq} INVITE`)
      this.#forget((each) => each.kind === 'response' && this.#isRepeated(each))
    }
    this.raw(`${method} ${call.target} SIP/2.0\r\n${lines.join('\r\n')}\r\n\r\n${body}`)
    return branch
  }

  /** Answers a request. */
  reply(
    request: SipRequest,
    status: number,
    options: { tag?: string; body?: string; extra?: Extra; contact?: boolean } = {},
  ): void {
    const { tag = `peer${this.port}`, body = '', extra = {}, contact = true } = options
    const copied = ['via', 'from', 'call-id', 'cseq'].flatMap((key) =>
      request.headers.all(key).map((value) => `${key}: ${value}`),
    )
    const to = request.headers.first('to') ?? ''
    const lines = [
      `SIP/2.0 ${status} Status`,
      ...copied,
      `To: ${request.toTag === '' && status > 100 && tag !== '' ? `${to};tag=${tag}` : to}`,
      ...(contact ? [`Contact: <${this.uri}>`] : []),
      ...(body === '' ? [] : ['Content-Type: application/sdp']),
      ...Object.entries(extra).map(([name, value]) => `${name}: ${value}`),
      `Content-Length: ${body.length}`,
    ]
    const text = `${lines.join('\r\n')}\r\n\r\n${body}`
    if (this.transport === 'udp') this.#remember(request, text)
    this.raw(text)
  }

  #remember(request: SipRequest, reply: string): void {
    const key = transactionOf(request)
    this.#replied.set(key, reply)
    this.#forget((each) => each.kind === 'request' && transactionOf(each) === key)
  }
}

/** Returns the values that a request shares with its retransmissions (RFC 3261 17.2.3). */
const transactionOf = ({ via, method }: SipRequest): string => `${via.branch} ${method}`
