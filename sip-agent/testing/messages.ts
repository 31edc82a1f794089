import { checkMessage } from '../message/check.ts'
import type { SipMessage, SipRequest, SipResponse } from '../message/message.ts'
import { parseDatagram } from '../message/parse.ts'
import type { Flow } from '../transport/types.ts'

/** A plain INVITE with a body, as text. */
export const inviteText = [
  'INVITE sip:bob@192.0.2.1:5060;transport=udp SIP/2.0',
  'Via: SIP/2.0/UDP 192.0.2.9:5061;branch=z9hG4bK776asdhds;rport, SIP/2.0/TCP edge.example.com;branch=z9hG4bKedge',
  'Max-Forwards: 70',
  'From: "A. G. \\"Bell\\"" <sip:alice@example.com>;tag=1928301774',
  'To: Bob <sip:bob@example.com>',
  'Call-ID: a84b4c76e66710@192.0.2.9',
  'CSeq: 314159 INVITE',
  'Contact: <sip:alice@192.0.2.9:5061;ob>;+sip.instance="<urn:uuid:1>"',
  'Record-Route: <sip:p1.example.com;lr>, <sip:p2.example.com;lr>',
  'Allow: INVITE, ACK, CANCEL, BYE, OPTIONS, INFO',
  'Supported: replaces, timer',
  'User-Agent: Example 1.0',
  'P-Asserted-Identity: <tel:+15551230000>',
  'Content-Type: application/sdp',
  'Content-Length: 4',
  '',
  'v=0\n',
].join('\r\n')

/** Parses and checks a message given as text. */
export const message = (text: string): SipMessage => checkMessage(parseDatagram(Buffer.from(text)))

/** A request of a caller at 192.0.2.9 with the given branch. */
export const request = (method: string, branch: string): SipRequest =>
  message(
    `${method} sip:bob@192.0.2.1 SIP/2.0\r\nVia: SIP/2.0/UDP 192.0.2.9;branch=${branch}\r\nFrom: <sip:a@b>;tag=f\r\n` +
      `To: <sip:bob@192.0.2.1>\r\nCall-ID: c1\r\nCSeq: 1 ${method}\r\nContent-Length: 0\r\n\r\n`,
  ) as SipRequest

/** Returns a response to a request of the agent with this branch. */
export const response = (status: number, branch: string, method: string, tag = 't'): SipResponse =>
  message(
    `SIP/2.0 ${status} Text\r\nVia: SIP/2.0/UDP 192.0.2.1;branch=${branch}\r\nFrom: <sip:a@b>;tag=f\r\n` +
      `To: <sip:bob@192.0.2.1>;tag=${tag}\r\nCall-ID: c1\r\nCSeq: 1 ${method}\r\nContent-Length: 0\r\n\r\n`,
  ) as SipResponse

/** A flow that records what is sent on it. */
export class RecordingFlow implements Flow {
  readonly remote = { protocol: 'udp', address: '192.0.2.9', port: 5060 } as const
  readonly local = { protocol: 'udp', address: '192.0.2.1', port: 5060 } as const
  readonly isReliable: boolean
  readonly sent: string[] = []
  isClosed = false
  /** Error of every send; undefined for success. */
  failure: string | undefined

  constructor(reliable = false) {
    this.isReliable = reliable
  }

  send(bytes: Buffer, failed?: (reason: string) => void): void {
    this.sent.push(bytes.toString())
    if (this.failure) failed?.(this.failure)
  }
}
