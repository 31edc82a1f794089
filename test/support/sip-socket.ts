import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { connect, isIPv6, type Socket as Stream } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { onTestFinished } from 'vitest'
import { type TraceMessage, traceOnFailure } from './failure-report.ts'
import { until } from './until.ts'

/** Request with chosen header fields. */
export interface WrittenRequest {
  readonly method: string
  readonly uri: string
  /** Further header fields. */
  readonly headers?: readonly string[]
  readonly body?: string
  /** Default `1`. */
  readonly cseq?: string
  /** Default a new one. */
  readonly callId?: string
  readonly branch?: string
  /** Tag of From; default a new one. */
  readonly fromTag?: string
  /** Tag of To; default none. */
  readonly toTag?: string
  /** Address of To; default the request-URI. */
  readonly to?: string
  /** Contact URI; default one without a listener. */
  readonly contact?: string
  /** Default 70; null leaves the field out. */
  readonly hops?: number | null
}

let count = 0

/**
 * Sends SIP texts unchanged, well-formed or not, from a chosen address, and keeps the responses. Closes with
 * its test.
 */
export class SipSocket {
  readonly answers: string[] = []
  readonly #write: (text: string) => void
  readonly #via: string
  readonly #trace: TraceMessage

  /** Idempotent. */
  readonly close: () => void

  constructor(write: (text: string) => void, via: string, close: () => void) {
    this.close = close
    this.#trace = traceOnFailure(`socket of ${via}`)
    this.#write = (text) => {
      this.#trace('sent', text)
      write(text)
    }
    this.#via = via
  }

  /** Opens a UDP socket at a loopback address; `own` is the local port, default a free one. */
  static async udp(port: number, address = '127.0.0.1', own = 0): Promise<SipSocket> {
    const family = isIPv6(address) ? 'udp6' : 'udp4'
    const far = family === 'udp6' ? '::1' : '127.0.0.1'
    const socket: Socket = createSocket(family).bind(own, address)
    await once(socket, 'listening')
    let open = true
    const close = () => {
      if (open) socket.close()
      open = false
    }
    onTestFinished(close)
    const host = family === 'udp6' ? `[${address}]` : address
    const via = `SIP/2.0/UDP ${host}:${socket.address().port}`
    const sip = new SipSocket((text) => socket.send(text, port, far), via, close)
    socket.on('message', (bytes) => sip.#receive(bytes))
    return sip
  }

  /** Connects by TCP, or by TLS without verification. On one machine each answer arrives in one piece. */
  static async stream(port: number, transport: 'TCP' | 'TLS', host = '127.0.0.1'): Promise<SipSocket> {
    const socket: Stream =
      transport === 'TLS' ? connectTls({ host, port, rejectUnauthorized: false }) : connect(port, host)
    await once(socket, transport === 'TLS' ? 'secureConnect' : 'connect')
    const close = () => void socket.destroy()
    onTestFinished(close)
    const sip = new SipSocket((text) => socket.write(text), `SIP/2.0/${transport} 127.0.0.1:9`, close)
    socket.on('data', (bytes) => sip.#receive(bytes))
    socket.on('error', () => {})
    return sip
  }

  #receive(bytes: Buffer): void {
    this.#trace('received', bytes)
    this.answers.push(bytes.toString())
  }

  /** Sends a text unchanged. */
  raw(text: string): void {
    this.#write(text)
  }

  /** Returns the text of a request with all mandatory header fields. */
  text(request: WrittenRequest): string {
    const { method, uri, headers = [], body = '', cseq = '1', hops = 70, toTag } = request
    const own = `${process.pid}-${++count}`
    const lines = [
      `${method} ${uri} SIP/2.0`,
      `Via: ${this.#via};branch=${request.branch ?? `z9hG4bK-${own}`};rport`,
      `From: <sip:stranger@carrier.test>;tag=${request.fromTag ?? `s${own}`}`,
      `To: <${request.to ?? uri}>${toTag === undefined ? '' : `;tag=${toTag}`}`,
      `Call-ID: ${request.callId ?? `${own}@carrier.test`}`,
      `CSeq: ${cseq} ${method}`,
      `Contact: <${request.contact ?? 'sip:stranger@127.0.0.1:9'}>`,
      ...(hops === null ? [] : [`Max-Forwards: ${hops}`]),
      ...headers,
      `Content-Length: ${Buffer.byteLength(body)}`,
    ]
    return `${lines.join('\r\n')}\r\n\r\n${body}`
  }

  /** Sends a request and waits for its answer, final or not. */
  async ask(request: WrittenRequest): Promise<string> {
    return this.askText(this.text(request))
  }

  /** Sends a text unchanged and waits for its answer, final or not. */
  async askText(text: string): Promise<string> {
    const before = this.answers.length
    this.#write(text)
    const [answer = ''] = await until(
      `an answer to ${text.split('\r\n')[0]}`,
      () => this.answers.slice(before).filter((each) => !each.startsWith('SIP/2.0 100')),
      (found) => found.length > 0,
    )
    return answer
  }
}

/** Returns an SDP offer for a request; its port has no listener. */
export const offer = (
  version = 1,
): Pick<WrittenRequest, 'body'> & { readonly headers: readonly string[] } => ({
  headers: ['Content-Type: application/sdp'],
  body: [
    'v=0',
    `o=carrier 1 ${version} IN IP4 127.0.0.1`,
    's=-',
    'c=IN IP4 127.0.0.1',
    't=0 0',
    'm=audio 9 RTP/AVP 0',
    'a=rtpmap:0 PCMU/8000',
    '',
  ].join('\r\n'),
})

/** Returns the status of a response; 0 for any other text. */
export const statusOf = (answer: string): number => Number(/^SIP\/2\.0 (\d{3}) /.exec(answer)?.[1] ?? 0)
