import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { generator, mutate } from '../../sip-agent/testing/mutate.ts'
import type { Gateway } from './gateway.ts'
import { headerOf } from './sip-text.ts'
import { until } from './until.ts'

/** Domain whose handler answers and waits. */
export const fuzzedDomain = 'talk.test'
/** Domain whose handler connects every call to the fuzzing peer. */
export const connectedDomain = 'through.test'

/** Counts of one run, for its report. */
export interface FuzzCounts {
  /** Messages that were sent, damaged or whole. */
  readonly sent: number
  /** Calls that the gateway answered, and that were hung up. */
  readonly answered: number
  /** INVITEs of the gateway that were answered with damaged responses. */
  readonly asked: number
}

/** Header fields for pumps: all those that the gateway or its agent reads. */
const pumpedHeaders = [
  'Accept',
  'Alert-Info',
  'Allow',
  'Authorization',
  'Call-Info',
  'Contact',
  'Content-Disposition',
  'Content-Type',
  'Diversion',
  'Event',
  'Expires',
  'From',
  'History-Info',
  'Identity',
  'Max-Forwards',
  'Min-SE',
  'P-Asserted-Identity',
  'Path',
  'Privacy',
  'Proxy-Authorization',
  'Proxy-Require',
  'RAck',
  'Reason',
  'Record-Route',
  'Refer-To',
  'Referred-By',
  'Replaces',
  'Require',
  'Route',
  'Session-Expires',
  'Supported',
  'Subject',
  'To',
  'User-Agent',
  'User-to-User',
  'Via',
  'Warning',
  'X-Custom',
]

/**
 * Pumps: texts to repeat up to the maximum length of a header. Each has cost some SIP stack quadratic time.
 */
const pumps = [
  '"',
  '\\"',
  '"\\',
  '<',
  '>',
  '<sip:',
  'sip:',
  'sip:sip:',
  ';',
  ';a',
  ';a=',
  ';a="',
  ',',
  ',<',
  ', ,',
  '@',
  ':',
  ':@',
  '%',
  '%4',
  '%00',
  ' ',
  '\t',
  '=',
  '=?',
  '[',
  '::',
  '(',
  '(\\',
  'a',
  '0',
  '-',
  '\u00e9',
  'Digest ',
  'Digest a="',
  'a="b",',
  'realm="\\',
  '?a=',
  '&a=',
  ';cause=',
  'Q.850;cause=1,',
]

const longest = 8_100

/** SIP peer over UDP that sends damaged messages, reproducible from a seed, and ends every resulting call. */
export class FuzzPeer {
  readonly #socket: Socket
  readonly #gateway: Gateway
  #random: () => number
  #count = 0
  #counts = { sent: 0, answered: 0, asked: 0 }
  /** Whether answers to the gateway's requests are damaged. */
  #damages = true
  /** Tags of answers whose calls were hung up. */
  readonly #hungUp = new Set<string>()

  private constructor(socket: Socket, gateway: Gateway, seed: number) {
    this.#socket = socket
    this.#gateway = gateway
    this.#random = generator(seed)
    socket.on('message', (bytes) => this.#receive(bytes.toString()))
  }

  /** Binds `port` of 127.0.0.1, to which the handler of {@link connectedDomain} connects. */
  static async open(gateway: Gateway, port: number, seed: number): Promise<FuzzPeer> {
    const socket = createSocket('udp4').bind(port, '127.0.0.1')
    await once(socket, 'listening')
    return new FuzzPeer(socket, gateway, seed)
  }

  /** Counts since the start. */
  get counts(): FuzzCounts {
    return { ...this.#counts }
  }

  /** Sends damaged requests of every method, outside of calls. */
  async requests(count: number): Promise<void> {
    const methods = [
      'INVITE',
      'INVITE',
      'OPTIONS',
      'REGISTER',
      'SUBSCRIBE',
      'MESSAGE',
      'BYE',
      'CANCEL',
      'ACK',
      'PRACK',
      'INFO',
    ]
    for (let index = 0; index < count; index++)
      await this.#send(this.#damaged(this.#request(this.#oneOf(methods))))
  }

  /** Sends requests with one header of 8 KB that repeats a pump, within and outside of calls. */
  async headers(count: number): Promise<void> {
    const inside = ['INVITE', 'REFER', 'INFO', 'UPDATE', 'NOTIFY', 'OPTIONS']
    const call = await this.#call()
    for (let index = 0; index < count; index++) {
      const name = this.#oneOf(pumpedHeaders)
      const pump = this.#oneOf(pumps)
      const start = this.#oneOf(['', '"', '<sip:a@b', 'a', '<sip:a@b>;'])
      const value = `${start}${pump.repeat(Math.floor((longest - start.length) / pump.length))}`
      const isInside = this.#random() < 0.5
      const method = isInside ? this.#oneOf(inside) : this.#oneOf(['OPTIONS', 'INVITE'])
      const text = this.#request(method, isInside ? call : undefined)
      const line = new RegExp(`^${name}: .*$`, 'm')
      const pumped = line.test(text)
        ? text.replace(line, () => `${name}: ${value}`)
        : text.replace('Content-Length', () => `${name}: ${value}\r\nContent-Length`)
      await this.#send(Buffer.from(pumped))
    }
  }

  /** Places calls and sends damaged requests within them. */
  async calls(count: number): Promise<void> {
    const inside = ['ACK', 'BYE', 'INVITE', 'UPDATE', 'INFO', 'PRACK', 'NOTIFY', 'REFER', 'CANCEL', 'MESSAGE']
    for (let index = 0; index < count; index++) {
      const call = await this.#call()
      for (let within = 0; within < 8; within++)
        await this.#send(this.#damaged(this.#request(this.#oneOf(inside), call)))
      await this.#send(Buffer.from(this.#request('BYE', { ...call, seq: 1_000_000 })))
    }
  }

  /**
   * Places `count` calls that the gateway connects back to this peer, which answers with damaged responses.
   * Places more until the gateway has sent INVITEs for three quarters of `count`, repeated ones included. On
   * a busy machine, calls are cancelled or rejected before. Throws if five times as many are not enough.
   */
  async answers(count: number): Promise<void> {
    this.#damages = true
    const enough = this.#counts.asked + 0.75 * count
    for (let index = 0; index < count || this.#counts.asked <= enough; index++) {
      if (index >= 5 * count)
        throw new Error(`${this.#counts.asked} INVITEs of the gateway for ${index} calls`)
      const call = this.#newCall(connectedDomain)
      await this.#send(Buffer.from(this.#request('INVITE', call)))
      await sleep(index < count ? 10 : 100)
      if (this.#random() < 0.3) await this.#send(Buffer.from(this.#request('CANCEL', call)))
    }
    await sleep(1_500)
    this.#damages = false
  }

  /**
   * Waits until every gauge is zero, and places a call. Damaged requests leave transactions without ACK or
   * answer, which the gateway gives up after the 32 s of RFC 3261's timers.
   */
  async settled(): Promise<void> {
    this.#damages = false
    await this.#gateway.settled({ transactions: true })
    const call = await this.#call()
    await this.#send(Buffer.from(this.#request('BYE', { ...call, seq: 1_000_000 })))
    await this.#gateway.settled()
  }

  /** Closes the socket. */
  close(): void {
    this.#socket.close()
  }

  #oneOf<T>(list: readonly T[]): T {
    return list[Math.floor(this.#random() * list.length)] as T
  }

  /** Sends a text, damaged in most cases. */
  #damaged(text: string): Buffer {
    return this.#random() < 0.15 ? Buffer.from(text) : mutate(Buffer.from(text), this.#random)
  }

  async #send(bytes: Buffer): Promise<void> {
    this.#counts.sent++
    await new Promise<void>((done) =>
      this.#socket.send(bytes, this.#gateway.sipPort, '127.0.0.1', () => done()),
    )
    // Paced, since a full socket buffer would lose requests.
    if (this.#counts.sent % 8 === 0) await sleep(4)
  }

  #newCall(domain = fuzzedDomain): Call {
    const id = `f${process.pid}-${++this.#count}`
    return { id, domain, seq: 1, branch: `z9hG4bK${id}` }
  }

  /** Places a call, acknowledges its answer and returns it. */
  async #call(): Promise<Call> {
    const call = this.#newCall()
    const text = this.#request('INVITE', call)
    const answered = () => this.#tags.get(call.id)
    await this.#send(Buffer.from(text))
    const tag = await until(`an answer to the call ${call.id}`, answered, Boolean)
    return { ...call, tag, seq: 2 }
  }

  readonly #tags = new Map<string, string>()

  #request(method: string, call?: Call): string {
    const { id, domain, seq, tag, branch } = call ?? this.#newCall()
    const local = `127.0.0.1:${this.#socket.address().port}`
    const own =
      method === 'CANCEL' || (method === 'INVITE' && !tag) ? branch : `z9hG4bK${id}-${++this.#count}`
    const body = method === 'INVITE' || method === 'UPDATE' ? this.#sdp() : ''
    return [
      `${method} sip:1@${domain} SIP/2.0`,
      `Via: SIP/2.0/UDP ${local};branch=${own};rport`,
      'Max-Forwards: 70',
      `From: "Al" <sip:+4930123@carrier.test>;tag=${id}`,
      `To: <sip:1@${domain}>${tag ? `;tag=${tag}` : ''}`,
      `Call-ID: ${id}@fuzz`,
      `CSeq: ${method === 'ACK' || method === 'CANCEL' ? 1 : seq + this.#count} ${method}`,
      `Contact: <sip:al@${local}>`,
      this.#oneOf([
        'Supported: 100rel, timer',
        'Session-Expires: 1800;refresher=uac',
        'Allow: INVITE, UPDATE',
        'X-A: b',
      ]),
      this.#oneOf(['Refer-To: <sip:c@127.0.0.1>', 'RAck: 1 1 INVITE', 'Event: refer', 'Privacy: none']),
      ...(body === '' ? [] : ['Content-Type: application/sdp']),
      `Content-Length: ${body.length}`,
      '',
      body,
    ].join('\r\n')
  }

  #sdp(): string {
    const lines = [
      'v=0',
      'o=- 1 1 IN IP4 127.0.0.1',
      's=-',
      'c=IN IP4 127.0.0.1',
      't=0 0',
      'm=audio 9 RTP/AVP 0 101',
    ]
    return [...lines, 'a=rtpmap:101 telephone-event/8000', ''].join('\r\n')
  }

  #receive(text: string): void {
    if (text.startsWith('SIP/2.0')) this.#response(text)
    else if (!text.startsWith('ACK')) this.#answer(text)
  }

  /** Acknowledges each 200 to an INVITE, and hangs up calls that damaged INVITEs have caused. */
  #response(text: string): void {
    const callId = headerOf(text, 'Call-ID') ?? ''
    const tag = /;tag=([^;\s]+)/.exec(headerOf(text, 'To') ?? '')?.[1]
    if (!text.startsWith('SIP/2.0 2') || !headerOf(text, 'CSeq')?.includes('INVITE') || !tag) return
    const known = /^(f\d+-\d+)@fuzz$/.exec(callId)?.[1]
    const isOurs = known !== undefined && !this.#tags.has(known)
    if (isOurs) this.#tags.set(known, tag)
    void this.#send(Buffer.from(this.#within('ACK', text)))
    if (this.#hungUp.has(tag)) return
    this.#counts.answered++
    const isWanted = isOurs && !text.includes(connectedDomain)
    if (isWanted) return
    this.#hungUp.add(tag)
    void sleep(200).then(() => this.#send(Buffer.from(this.#within('BYE', text))))
  }

  /** Returns a request within the dialog of a response, built from the response only. */
  #within(method: string, response: string): string {
    const number = Number(/^\d+/.exec(headerOf(response, 'CSeq') ?? '')?.[0] ?? 1)
    const target = /<([^>]*)>/.exec(headerOf(response, 'Contact') ?? '')?.[1] ?? `sip:${fuzzedDomain}`
    return [
      `${method} ${target} SIP/2.0`,
      `Via: SIP/2.0/UDP 127.0.0.1:${this.#socket.address().port};branch=z9hG4bKw${++this.#count};rport`,
      'Max-Forwards: 70',
      `From: ${headerOf(response, 'From')}`,
      `To: ${headerOf(response, 'To')}`,
      `Call-ID: ${headerOf(response, 'Call-ID')}`,
      `CSeq: ${method === 'ACK' ? number : number + 5_000} ${method}`,
      'Content-Length: 0',
      '',
      '',
    ].join('\r\n')
  }

  /** Answers a request of the gateway: with damage during the run, correctly afterwards. */
  #answer(request: string): void {
    const isInvite = request.startsWith('INVITE')
    if (!this.#damages || !isInvite) {
      void this.#send(Buffer.from(this.#answerTo(request, isInvite ? 486 : 200)))
      return
    }
    this.#counts.asked++
    const [first, ...more] = this.#oneOf([
      [180, 200],
      [183, 200],
      [200],
      [486],
      [401],
      [407],
      [302],
      [422],
      [491],
      [503],
      [180],
    ])
    for (const status of [first!, ...more]) void this.#send(this.#damaged(this.#answerTo(request, status)))
  }

  #answerTo(request: string, status: number): string {
    const header = (name: string) => headerOf(request, name) ?? ''
    const to = header('To')
    const isDescribed = request.startsWith('INVITE') && (status === 183 || status === 200)
    const body = isDescribed ? this.#sdp() : ''
    return [
      `SIP/2.0 ${status} Text`,
      `Via: ${header('Via')}`,
      `From: ${header('From')}`,
      `To: ${to.includes('tag=') ? to : `${to};tag=peer${++this.#count}`}`,
      `Call-ID: ${header('Call-ID')}`,
      `CSeq: ${header('CSeq')}`,
      `Contact: <sip:peer@127.0.0.1:${this.#socket.address().port}>`,
      this.#oneOf([
        'Require: 100rel\r\nRSeq: 1',
        'Server: x',
        'Retry-After: 5',
        'Min-SE: 4000',
        'Session-Expires: 90',
      ]),
      ...(status === 401 ? ['WWW-Authenticate: Digest realm="r", nonce="n"'] : []),
      ...(status === 407 ? ['Proxy-Authenticate: Digest realm="r", nonce="n", qop="auth"'] : []),
      ...(isDescribed ? ['Content-Type: application/sdp'] : []),
      `Content-Length: ${body.length}`,
      '',
      body,
    ].join('\r\n')
  }
}

/** One call of the peer. */
interface Call {
  readonly id: string
  readonly domain: string
  /** CSeq number of the next request. */
  readonly seq: number
  readonly branch: string
  /** Tag of the gateway, once it has answered. */
  readonly tag?: string
}
