import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { bodyOf, headerOf } from '../../test/support/sip-text.ts'

/** Time without any response after which a call has failed, in ms. */
const silenceMs = 2_500
/** Time without an answer after which a call is cancelled, in ms. */
const defaultRingMs = 120_000
/** First interval of retransmissions, in ms (T1 of RFC 3261). */
const firstIntervalMs = 500

/** Event of a call. */
export type PhoneEvent =
  | { readonly kind: 'ringing' }
  /** The far side receives audio at this address, before or after the answer. */
  | { readonly kind: 'media'; readonly host: string; readonly port: number }
  | { readonly kind: 'answered' }
  /** Final: the call has ended. `message` is the response or request of the far side, if it sent one. */
  | { readonly kind: 'ended'; readonly by: PhoneEnd; readonly message: string }

/** End of a call. `silence`: no response at all; `no-answer`: no answer within the limit. */
export type PhoneEnd = 'far' | 'us' | 'refusal' | 'silence' | 'no-answer'

/** Destination of a call. */
export interface PhoneTarget {
  /** SIP URI of the request line. */
  readonly uri: string
  readonly host: string
  readonly port: number
  /** Local port of the audio. */
  readonly mediaPort: number
  /** Time without an answer after which the call is cancelled, in ms; default 120 000. */
  readonly maxRingMs?: number
}

/** Opens a socket to a gateway. Rejects for an unknown host. */
const connected = async (host: string, port: number): Promise<Socket> => {
  const socket = createSocket('udp4')
  try {
    socket.connect(port, host)
    await once(socket, 'connect')
    return socket
  } catch (error) {
    socket.close()
    throw error
  }
}

/**
 * Returns the address of the local interface that reaches a gateway, for the SDP of a call. The gateway
 * ignores audio from other addresses. Rejects for an unknown host.
 */
export const localAddress = async (host: string, port: number): Promise<string> => {
  const socket = await connected(host, port)
  const { address } = socket.address()
  socket.close()
  return address
}

/** A SIP telephone over UDP for one call, with PCMU and telephone-events. */
export class DemoPhone {
  readonly #socket: Socket
  readonly #target: PhoneTarget
  readonly #onEvent: (event: PhoneEvent) => void
  readonly #callId = `demo-${process.pid}-${Date.now()}`
  readonly #timers = new Set<NodeJS.Timeout>()
  #state: 'calling' | 'proceeding' | 'answered' | 'ended' = 'calling'
  #to: string
  #remote: string
  #invite = ''
  #sequence = 1

  /** Address of the local interface that reaches the gateway. */
  get address(): string {
    return this.#socket.address().address
  }

  private constructor(socket: Socket, target: PhoneTarget, onEvent: (event: PhoneEvent) => void) {
    this.#socket = socket
    this.#target = target
    this.#onEvent = onEvent
    this.#to = `<${target.uri}>`
    this.#remote = target.uri
    socket.on('message', (bytes) => this.#receive(bytes.toString()))
    // A closed port of the same or a near machine is reported at once.
    socket.on('error', () => this.#end('silence', ''))
  }

  /** Starts a call. `onEvent` receives its events; the last one is `ended`. Rejects for an unknown host. */
  static async call(target: PhoneTarget, onEvent: (event: PhoneEvent) => void): Promise<DemoPhone> {
    const socket = await connected(target.host, target.port)
    const phone = new DemoPhone(socket, target, onEvent)
    phone.#start()
    return phone
  }

  /** Hangs up or cancels. `by`: reason for the event. */
  hangUp(by: 'us' | 'no-answer' = 'us'): void {
    if (this.#state === 'ended') return
    if (this.#state === 'answered') this.#send(this.#request('BYE', ++this.#sequence, `b${this.#sequence}`))
    else if (this.#state === 'proceeding') this.#send(this.#request('CANCEL', 1, 'i'))
    this.#end(by, '')
  }

  #start(): void {
    const address = this.address
    const sdp = [
      'v=0',
      `o=- 1 1 IN IP4 ${address}`,
      's=-',
      `c=IN IP4 ${address}`,
      't=0 0',
      `m=audio ${this.#target.mediaPort} RTP/AVP 0 101`,
      'a=rtpmap:0 PCMU/8000',
      'a=rtpmap:101 telephone-event/8000',
      '',
    ].join('\r\n')
    this.#invite = this.#request('INVITE', 1, 'i', ['Content-Type: application/sdp'], sdp)
    this.#send(this.#invite)
    for (let at = firstIntervalMs, wait = firstIntervalMs * 2; at < silenceMs; at += wait, wait *= 2)
      this.#after(at, () => {
        if (this.#state === 'calling') this.#send(this.#invite)
      })
    this.#after(silenceMs, () => {
      if (this.#state === 'calling') this.#end('silence', '')
    })
    // A gateway that ends during the call sends no final response.
    this.#after(this.#target.maxRingMs ?? defaultRingMs, () => {
      if (this.#state !== 'answered') this.hangUp('no-answer')
    })
  }

  #receive(message: string): void {
    if (headerOf(message, 'Call-ID') !== this.#callId) return
    const status = Number(/^SIP\/2\.0 (\d{3})/.exec(message)?.[1] ?? 0)
    if (status === 0) this.#receiveRequest(message)
    else if (headerOf(message, 'CSeq') === '1 INVITE') this.#receiveResponse(status, message)
  }

  #receiveResponse(status: number, message: string): void {
    if (this.#state === 'calling') this.#state = 'proceeding'
    if (status === 100) return
    this.#to = headerOf(message, 'To') ?? this.#to
    const port = Number(/^m=audio (\d+) /m.exec(bodyOf(message))?.[1] ?? 0)
    if (status >= 300) {
      this.#send(this.#request('ACK', 1, 'i'))
      if (this.#state !== 'ended') this.#end('refusal', message)
      return
    }
    if (status >= 200) {
      this.#remote = /<([^>]+)>/.exec(headerOf(message, 'Contact') ?? '')?.[1] ?? this.#remote
      this.#send(this.#request('ACK', 1, 'a'))
    }
    if (this.#state !== 'proceeding') return
    if (status >= 200) this.#state = 'answered'
    this.#onEvent({ kind: status >= 200 ? 'answered' : 'ringing' })
    const host = /^c=IN IP4 ([\d.]+)/m.exec(bodyOf(message))?.[1] ?? this.#target.host
    if (port > 0) this.#onEvent({ kind: 'media', host, port })
  }

  #receiveRequest(request: string): void {
    const method = request.slice(0, request.indexOf(' '))
    if (method === 'ACK') return
    // Only the end of the call is of interest; other requests are outside of the demonstration.
    const status = method === 'BYE' || method === 'OPTIONS' ? '200 OK' : '488 Not Acceptable Here'
    const copied = ['Via', 'From', 'To', 'Call-ID', 'CSeq'].map(
      (name) => `${name}: ${headerOf(request, name) ?? ''}`,
    )
    this.#send(`${[`SIP/2.0 ${status}`, ...copied, 'Content-Length: 0'].join('\r\n')}\r\n\r\n`)
    if (method === 'BYE') this.#end('far', request)
  }

  #end(by: PhoneEnd, message: string): void {
    if (this.#state === 'ended') return
    this.#state = 'ended'
    for (const timer of this.#timers) clearTimeout(timer)
    this.#onEvent({ kind: 'ended', by, message })
    // The last message may be sent again, or still be on its way.
    setTimeout(() => this.#socket.close(), 200)
  }

  #after(ms: number, run: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      run()
    }, ms)
    this.#timers.add(timer)
  }

  #send(text: string): void {
    this.#socket.send(text, () => {})
  }

  #request(
    method: string,
    sequence: number,
    branch: string,
    headers: readonly string[] = [],
    body = '',
  ): string {
    const { address, port } = this.#socket.address()
    const isInitial = method === 'INVITE' || method === 'CANCEL'
    const lines = [
      `${method} ${isInitial ? this.#target.uri : this.#remote} SIP/2.0`,
      `Via: SIP/2.0/UDP ${address}:${port};branch=z9hG4bK${this.#callId}${branch};rport`,
      `From: <sip:demo@${address}>;tag=demo`,
      `To: ${isInitial ? `<${this.#target.uri}>` : this.#to}`,
      `Call-ID: ${this.#callId}`,
      `CSeq: ${sequence} ${method}`,
      `Contact: <sip:demo@${address}:${port}>`,
      'Max-Forwards: 70',
      'User-Agent: trunkline-demo-call',
      ...headers,
      `Content-Length: ${Buffer.byteLength(body)}`,
    ]
    return `${lines.join('\r\n')}\r\n\r\n${body}`
  }
}
