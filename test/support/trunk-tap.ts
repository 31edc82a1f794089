import { once } from 'node:events'
import {
  type AddressInfo,
  connect,
  createServer,
  type Server,
  type Socket,
  type TcpNetConnectOpts,
} from 'node:net'
import {
  type ConnectionOptions,
  connect as connectTls,
  createServer as createTlsServer,
  type TLSSocket,
} from 'node:tls'
import type { CertificateFolder } from './certificates.ts'
import { traceOnFailure } from './failure-report.ts'
import { until } from './until.ts'

const startLine = /(?=^(?:[A-Z]+ sips?:\S+ SIP\/2\.0|SIP\/2\.0 \d{3} ))/m

/** Audio profile of a SIP message, with ` with keys` if its SDP has keys; empty without SDP. */
export const securityOf = (message: string): string => {
  const profile = /^m=audio \d+ (\S+)/m.exec(message)?.[1] ?? ''
  return /^a=crypto:/m.test(message) ? `${profile} with keys` : profile
}

/** The body of a SIP message. */
export const bodyOf = (message: string): string => message.slice(message.indexOf('\r\n\r\n') + 4)

/** SRTP key in a SIP message; empty without a key. */
export const keyOf = (message: string): string => /^a=crypto:.*inline:(\S+)/m.exec(message)?.[1] ?? ''

const headerOf = (message: string, name: string): string =>
  new RegExp(`^${name}: *(.*?) *\r?$`, 'im').exec(message)?.[1] ?? ''

/** Position of a tap on a trunk. */
export interface TapOptions {
  /** Port of 127.0.0.1 of the called side. */
  readonly to: number
  /** Source address of the calls at the called side. */
  readonly from: string
  readonly certificates: CertificateFolder
  /**
   * Hosts of the certificates. The tap presents the called side's certificate to the calling side, and the
   * reverse.
   */
  readonly called: string
  readonly calling: string
}

/** A tap on a TLS trunk, with the certificates of both sides. */
export class TrunkTap {
  readonly #server: Server
  readonly #sockets = new Set<TLSSocket>()
  readonly #texts = { sent: '', answered: '' }
  readonly #trace = traceOnFailure('tap of the trunk')
  /** Latest connection to the called side. */
  #far: TLSSocket | undefined
  /** Number of requests that the tap sent itself. */
  #spoken = 0

  private constructor({ to, from, certificates, called, calling }: TapOptions) {
    const ca = certificates.pem
    const own = { ...certificates.shown(called), ca, requestCert: true, rejectUnauthorized: true }
    this.#server = createTlsServer(own, (near) => {
      const options: ConnectionOptions & TcpNetConnectOpts = {
        port: to,
        host: '127.0.0.1',
        localAddress: from,
        servername: called,
        ca,
        ...certificates.shown(calling),
      }
      const far = connectTls(options)
      this.#far = far
      this.#follow(near, far, 'sent')
      this.#follow(far, near, 'answered')
    })
  }

  static async open(options: TapOptions): Promise<TrunkTap> {
    const tap = new TrunkTap(options)
    tap.#server.listen(0, '127.0.0.1')
    await once(tap.#server, 'listening')
    return tap
  }

  /** Port for the calling side. */
  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** The INVITEs of the calling side. */
  get invites(): string[] {
    return this.#texts.sent.split(startLine).filter((message) => message.startsWith('INVITE '))
  }

  /** Final responses to the INVITEs, including retransmissions. */
  get finals(): string[] {
    return this.#texts.answered
      .split(startLine)
      .filter((message) => /^SIP\/2\.0 [2-6]/.test(message) && /^CSeq: *\d+ INVITE\b/im.test(message))
  }

  /**
   * Sends a re-INVITE in the last call in place of the calling side, acknowledges it, and returns the answer.
   * The calling side's own later requests have old CSeq numbers, so the called side must end the call.
   */
  async reinvites(sdp: string): Promise<string> {
    const { invites, finals } = this
    const invite = invites.at(-1) ?? ''
    const answer = finals.at(-1) ?? ''
    const seq = Number(headerOf(invite, 'CSeq').split(' ')[0]) + ++this.#spoken
    const target = /<([^>]+)>/.exec(headerOf(answer, 'Contact'))?.[1]
    const request = (method: string, body: string): string =>
      [
        `${method} ${target} SIP/2.0`,
        `Via: SIP/2.0/TLS 127.0.0.1:${this.port};branch=z9hG4bKtap${method}${seq}`,
        `From: ${headerOf(invite, 'From')}`,
        `To: ${headerOf(answer, 'To')}`,
        `Call-ID: ${headerOf(invite, 'Call-ID')}`,
        `CSeq: ${seq} ${method}`,
        `Contact: ${headerOf(invite, 'Contact')}`,
        'Max-Forwards: 70',
        ...(body === '' ? [] : ['Content-Type: application/sdp']),
        `Content-Length: ${body.length}\r\n\r\n${body}`,
      ].join('\r\n')
    this.#far?.write(request('INVITE', sdp))
    const final = await until('the re-INVITE is answered', () =>
      this.finals.find((message) => headerOf(message, 'CSeq') === `${seq} INVITE`),
    )
    this.#far?.write(request('ACK', ''))
    return final ?? ''
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #follow(from: TLSSocket, to: TLSSocket, side: 'sent' | 'answered'): void {
    this.#sockets.add(from)
    from.on('error', () => {})
    from.once('close', () => {
      this.#sockets.delete(from)
      to.destroy()
    })
    from.on('data', (chunk) => {
      this.#texts[side] += chunk.toString('latin1')
      this.#trace(side === 'sent' ? 'sent' : 'received', chunk)
      to.write(chunk)
    })
  }
}

/**
 * Forwards TCP connections from another loopback address to a port of 127.0.0.1, like a second address of a
 * host.
 */
export class Detour {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  private constructor(to: number) {
    this.#server = createServer((near) => {
      const far = connect(to, '127.0.0.1')
      for (const [from, other] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#sockets.add(from)
        from.on('error', () => {})
        from.once('close', () => {
          this.#sockets.delete(from)
          other.destroy()
        })
        from.pipe(other)
      }
    })
  }

  static async open(address: string, to: number): Promise<Detour> {
    const detour = new Detour(to)
    detour.#server.listen(0, address)
    await once(detour.#server, 'listening')
    return detour
  }

  /** SIP URI of the detour, for TLS. */
  get target(): string {
    const { address, port } = this.#server.address() as AddressInfo
    return `sip:${address}:${port};transport=tls`
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }
}
