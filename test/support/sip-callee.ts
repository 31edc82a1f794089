import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { decode } from '../../media/codecs/g711.ts'
import { levelDb } from '../../media/rtp/voice-activity.ts'
import { type TraceMessage, traceOnFailure } from './failure-report.ts'
import { RtpPeer } from './rtp-peer.ts'
import { bodyOf, headerOf } from './sip-text.ts'
import { until } from './until.ts'

let count = 0

/** Telephone over UDP at a loopback address that answers one call, with its audio. Retransmits nothing. */
export class SipCallee {
  readonly media: RtpPeer
  /** Received messages. */
  readonly received: string[] = []
  readonly #socket: Socket
  readonly #trace: TraceMessage = traceOnFailure(`callee ${++count}`)
  readonly #tag = `callee-${process.pid}-${count}`
  /** Port of the gateway. */
  #far = 0

  private constructor(socket: Socket, media: RtpPeer) {
    this.#socket = socket
    this.media = media
    socket.on('message', (bytes) => this.#receive(bytes.toString()))
  }

  /** Opens a telephone that answers as soon as it is called. */
  static async open(): Promise<SipCallee> {
    const socket = createSocket('udp4').bind(0, '127.0.0.1')
    await once(socket, 'listening')
    return new SipCallee(socket, await RtpPeer.open('PCMU'))
  }

  get uri(): string {
    return `sip:person@127.0.0.1:${this.#socket.address().port}`
  }

  /** Whether the gateway has acknowledged the answer. */
  get isAnswered(): boolean {
    return this.received.some((text) => text.startsWith('ACK '))
  }

  /** Whether the gateway has ended the call, before or after the answer. */
  get isOver(): boolean {
    return this.received.some((text) => /^(BYE|CANCEL) /.test(text))
  }

  /** Duration of the sound that was heard, in ms. */
  get voiceMs(): number {
    const isSound = (payload: Uint8Array) => levelDb(decode('PCMU', payload)) > -45
    return this.media.packets.filter(({ payload }) => isSound(payload)).length * 20
  }

  /** Waits until the call is answered, and begins to send silence, or a tone of `frequency` Hz. */
  async answers(frequency = 0): Promise<void> {
    await until('the callee has answered', () => this.isAnswered)
    const invite = this.received.find((text) => text.startsWith('INVITE ')) ?? ''
    this.media.send(Number(/^m=audio (\d+)/m.exec(bodyOf(invite))?.[1]), frequency)
  }

  /** Hangs up, and waits for the response. */
  async hangUp(): Promise<void> {
    const invite = this.received.find((text) => text.startsWith('INVITE ')) ?? ''
    const [, contact = ''] = /<([^>]+)>/.exec(headerOf(invite, 'Contact') ?? '') ?? []
    this.#send([
      `BYE ${contact} SIP/2.0`,
      `Via: SIP/2.0/UDP 127.0.0.1:${this.#socket.address().port};branch=z9hG4bK${this.#tag}b`,
      `From: ${headerOf(invite, 'To')};tag=${this.#tag}`,
      `To: ${headerOf(invite, 'From')}`,
      `Call-ID: ${headerOf(invite, 'Call-ID')}`,
      'CSeq: 1 BYE',
      'Max-Forwards: 70',
      'Content-Length: 0',
    ])
    await until('the hang-up is accepted', () => this.received.some((text) => /^CSeq: 1 BYE/im.test(text)))
  }

  close(): void {
    this.media.close()
    this.#socket.close()
  }

  #receive(text: string): void {
    this.received.push(text)
    this.#trace('received', text)
    if (text.startsWith('INVITE ')) {
      const { address, port } = this.media
      const type = 'Content-Type: application/sdp'
      const body = [
        'v=0',
        `o=- 1 1 IN IP4 ${address}`,
        's=-',
        `c=IN IP4 ${address}`,
        't=0 0',
        `m=audio ${port} RTP/AVP 0 101`,
        'a=rtpmap:101 telephone-event/8000',
        '',
      ].join('\r\n')
      this.#respond(text, '200 OK', [`Contact: <${this.uri}>`, type], body)
    } else if (/^(BYE|CANCEL) /.test(text)) this.#respond(text, '200 OK')
  }

  #respond(request: string, status: string, more: readonly string[] = [], body = ''): void {
    const via = request.split('\r\n').filter((line) => /^via:/i.test(line))
    const to = headerOf(request, 'To') ?? ''
    this.#send(
      [
        `SIP/2.0 ${status}`,
        ...via,
        `From: ${headerOf(request, 'From')}`,
        `To: ${to.includes('tag=') ? to : `${to};tag=${this.#tag}`}`,
        `Call-ID: ${headerOf(request, 'Call-ID')}`,
        `CSeq: ${headerOf(request, 'CSeq')}`,
        ...request.split('\r\n').filter((line) => /^record-route:/i.test(line)),
        ...more,
        `Content-Length: ${Buffer.byteLength(body)}`,
      ],
      body,
      Number(/:(\d+)/.exec((via[0] ?? '').replace(/^via:\s*SIP\/2\.0\/UDP\s*/i, ''))?.[1]),
    )
  }

  /** Sends to a port of 127.0.0.1; default that of the last request. */
  #send(lines: readonly string[], body = '', port = this.#far): void {
    const text = `${lines.join('\r\n')}\r\n\r\n${body}`
    this.#far = port
    this.#trace('sent', text)
    this.#socket.send(text, port, '127.0.0.1')
  }
}
