/**
 * Stub of the SIP agent without a parser and state. It replays the frames of calls to an application as fast
 * as the application answers, which measures the capacity of drachtio-srf.
 */
import { createServer, type Socket } from 'node:net'
import { parentPort } from 'node:worker_threads'
import { FrameReader, makeFrame, splitPayload } from '../../sip-agent/drachtio/frames.ts'

/** Number of simultaneous calls. */
const window = 400
const from = 'udp|127.0.0.1|6000|12:00:00.000000'
const body =
  'v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 6000 RTP/AVP 8 0 ' +
  '101\r\na=ptime:20\r\n'

const request = (method: string, call: number, seq: number, tag: string): string =>
  [
    `${method} sip:+4930123456@127.0.0.1:5060;user=phone SIP/2.0`,
    `Via: SIP/2.0/UDP 127.0.0.1:6000;branch=z9hG4bK-${call}-${seq};rport=6000`,
    'Max-Forwards: 69',
    `From: "+49301234567" <sip:+49301234567@127.0.0.1;user=phone>;tag=f${call}`,
    `To: <sip:+4930123456@127.0.0.1;user=phone>${tag}`,
    `Call-ID: ${call}-bench@127.0.0.1`,
    `CSeq: ${seq} ${method}`,
    'Contact: <sip:+49301234567@127.0.0.1:6000>',
    'Allow: INVITE, ACK, CANCEL, BYE, OPTIONS, INFO, UPDATE',
    'Supported: timer, replaces',
    'Session-Expires: 1800',
    'Min-SE: 90',
    'User-Agent: Carrier 7.2.1',
    'P-Asserted-Identity: <sip:+49301234567@127.0.0.1;user=phone>',
    ...(method === 'INVITE' ? ['Content-Type: application/sdp'] : []),
    `Content-Length: ${method === 'INVITE' ? body.length : 0}`,
    '',
    method === 'INVITE' ? body : '',
  ].join('\r\n')

const response = (status: number, call: number, method: string): string =>
  [
    `SIP/2.0 ${status} Text`,
    `Via: SIP/2.0/UDP 127.0.0.1:6000;branch=z9hG4bK-${call}-1;rport=6000`,
    `From: "+49301234567" <sip:+49301234567@127.0.0.1;user=phone>;tag=f${call}`,
    `To: <sip:+4930123456@127.0.0.1;user=phone>;tag=t${call}`,
    `Call-ID: ${call}-bench@127.0.0.1`,
    `CSeq: 1 ${method}`,
    'Contact: <sip:127.0.0.1:5060>',
    'Content-Length: 0\r\n\r\n',
  ].join('\r\n')

/** Plays calls to one application. */
class Replay {
  readonly #socket: Socket
  #left = 0
  #done = 0
  #wanted = 0
  #next = 0

  constructor(socket: Socket) {
    this.#socket = socket
    const reader = new FrameReader()
    socket.setNoDelay(true)
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      socket.cork()
      for (const payload of reader.push(chunk)) this.#frame(payload)
      socket.uncork()
    })
  }

  play(calls: number): void {
    this.#left = calls
    this.#wanted = calls
    this.#done = 0
    for (let i = 0; i < window; i++) this.#call()
  }

  #call(): void {
    if (this.#left === 0) return
    this.#left--
    const call = this.#next++
    this.#write(`m|sip|network|900|${from}|i${call}||127.0.0.1|5060|`, request('INVITE', call, 1, ''))
  }

  #frame(payload: Buffer): void {
    const { fields, message } = splitPayload(payload)
    const [msgId = '', verb = '', txnId = ''] = fields
    if (verb === 'authenticate')
      this.#write(`m|response|${msgId}|OK|udp/127.0.0.1:5060|v0.9.10-replay|udp/127.0.0.1:5060`)
    else if (verb !== 'sip') this.#write(`m|response|${msgId}|OK`)
    else this.#answered(msgId, txnId, message)
  }

  #answered(msgId: string, txnId: string, message: Buffer): void {
    const call = Number(txnId.slice(1))
    const status = Number(message.toString('latin1', 8, 11))
    const invite = txnId.startsWith('i')
    const id = `${call}-bench@127.0.0.1;from-tag=f${call}`
    const sent = response(status, call, invite ? 'INVITE' : 'BYE')
    this.#write(`m|response|${msgId}|OK|application|${sent.length}|${from}|${txnId}|${id}||Msg sent:|`, sent)
    if (invite && status === 200) {
      const tag = `;tag=t${call}`
      this.#write(`m|sip|network|400|${from}|${txnId}|${id}|`, request('ACK', call, 1, tag))
      this.#write(`m|sip|network|400|${from}|b${call}|${id}|`, request('BYE', call, 2, tag))
    } else if (!invite) {
      this.#done++
      if (this.#done === this.#wanted) parentPort?.postMessage('done')
      this.#call()
    }
  }

  #write(line: string, message?: string): void {
    this.#socket.write(makeFrame(line, message === undefined ? undefined : Buffer.from(message)))
  }
}

let replay: Replay | undefined
const server = createServer((socket) => {
  replay = new Replay(socket)
})
server.listen(0, '127.0.0.1', () => parentPort?.postMessage((server.address() as { port: number }).port))
parentPort?.on('message', (calls: number) => replay?.play(calls))
