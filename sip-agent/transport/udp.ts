import { createSocket, type Socket } from 'node:dgram'
import { isIP, isIPv6 } from 'node:net'
import { Networks } from '../ip/networks.ts'
import { checkMessage } from '../message/check.ts'
import type { MessageLimits } from '../message/limits.ts'
import type { SipMessage } from '../message/message.ts'
import { parseDatagram } from '../message/parse.ts'
import { SipParseError } from '../message/sip-parse-error.ts'
import { isStun, stunAnswer } from './stun.ts'
import type { Endpoint, Flow, Gatekeeper, TransportSink } from './types.ts'
import { defaultPort } from './types.ts'

class UdpFlow implements Flow {
  readonly isReliable = false
  readonly remote: Endpoint
  readonly #transport: UdpTransport
  #problem: string | undefined

  constructor(transport: UdpTransport, address: string, port: number) {
    this.#transport = transport
    this.remote = { protocol: 'udp', address, port }
  }

  get local(): Endpoint {
    return this.#transport.local
  }

  get isClosed(): boolean {
    return this.#transport.closed
  }

  get problem(): string | undefined {
    return this.#problem
  }

  send(bytes: Buffer, failed?: (reason: string) => void): void {
    const { remote } = this
    this.#transport.trace('sent', bytes, this)
    if (!failed) this.#transport.send(bytes, remote)
    else
      this.#transport.send(bytes, remote, (reason) => {
        this.#problem = reason
        failed(reason)
      })
  }
}

type Found = (error: Error | null, address: string, family: number) => void

/**
 * Look-up that returns its argument at once, because destinations are always addresses. This saves a turn of
 * the event loop per datagram.
 */
const literal = (address: string, _options: unknown, done: Found): void => done(null, address, isIP(address))

/**
 * One bound UDP socket. Unreachable destinations are not noticed, because Node does not report ICMP errors of
 * an unconnected socket; requests to them time out. A connected socket per destination is no alternative,
 * because it would need another source port.
 */
export class UdpTransport {
  readonly #socket: Socket
  readonly #sink: TransportSink
  readonly #limits: MessageLimits
  readonly #gate: Gatekeeper
  readonly #viaPort: Pick<Networks, 'has'>
  #local: Endpoint = { protocol: 'udp', address: '', port: 0 }
  #isClosed = false

  /**
   * `viaPort`: networks whose requests without `rport` are answered at the port of their Via; default none.
   */
  constructor(
    address: string,
    sink: TransportSink,
    limits: MessageLimits,
    gate: Gatekeeper,
    viaPort: Pick<Networks, 'has'> = new Networks(),
  ) {
    this.#viaPort = viaPort
    this.#sink = sink
    this.#limits = limits
    this.#gate = gate
    this.#socket = createSocket({
      type: isIPv6(address) ? 'udp6' : 'udp4',
      // `::` and `0.0.0.0` may both be bound to one port.
      ipv6Only: isIPv6(address),
      recvBufferSize: 4 << 20,
      lookup: literal,
    })
    this.#socket.on('message', (bytes, from) => this.#receive(bytes, from.address, from.port))
  }

  /** The bound address. */
  get local(): Endpoint {
    return this.#local
  }

  get closed(): boolean {
    return this.#isClosed
  }

  /** Binds the socket. Rejects with the system's error. */
  open(address: string, port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#socket.once('error', reject)
      this.#socket.bind(port, address, () => {
        this.#socket.off('error', reject)
        // Send errors reach the callback of send(); a later error event must not end the process.
        this.#socket.on('error', () => {})
        this.#local = { protocol: 'udp', address, port: this.#socket.address().port }
        resolve()
      })
    })
  }

  /** Returns the flow to a destination. */
  flow(address: string, port: number): Flow {
    return new UdpFlow(this, address, port)
  }

  /** Reports a message on its way. */
  trace(direction: 'received' | 'sent', bytes: Buffer, flow: Flow): void {
    this.#sink.traced?.(direction, bytes, flow)
  }

  /** Sends one datagram. Never throws: a destination that the system rejects is reported to `failed`. */
  send(bytes: Buffer, to: Endpoint, failed?: (reason: string) => void): void {
    try {
      if (this.#isClosed) throw new Error('the transport is closed')
      if (!failed) this.#socket.send(bytes, to.port, to.address)
      else
        this.#socket.send(bytes, to.port, to.address, (error) => {
          if (error) failed(error.message)
        })
    } catch (error) {
      if (failed) queueMicrotask(() => failed((error as Error).message))
    }
  }

  /** Closes the socket. */
  close(): Promise<void> {
    if (this.#isClosed) return Promise.resolve()
    this.#isClosed = true
    return new Promise((resolve) => this.#socket.close(() => resolve()))
  }

  #receive(bytes: Buffer, address: string, port: number): void {
    // Empty datagrams and CRLF keep-alives of two or four bytes are ignored (RFC 5626 3.5.1).
    if (bytes.length <= 4) return
    // Source port 0 means that no response is wanted (RFC 768), but every SIP request needs one.
    if (port === 0) return
    if (!this.#gate.admits('udp', address, bytes)) return
    const flow = this.flow(address, port)
    if (isStun(bytes)) {
      const answer = stunAnswer(bytes, address, port)
      if (answer) flow.send(answer)
      return
    }
    this.trace('received', bytes, flow)
    try {
      const message = checkMessage(parseDatagram(bytes, this.#limits))
      this.#sink.received(message, this.#wayBack(message, flow), bytes.length)
    } catch (error) {
      if (error instanceof SipParseError) this.#sink.malformed(error, flow)
      else this.#sink.fault?.(error)
    }
  }

  /**
   * Returns the flow for responses. It always leads to the source address, so that a Via cannot direct
   * responses to another host.
   */
  #wayBack({ kind, via }: SipMessage, flow: Flow): Flow {
    const { address } = flow.remote
    if (kind === 'response' || via.params.has('rport') || !this.#viaPort.has(address)) return flow
    return this.flow(address, via.port ?? defaultPort('udp'))
  }
}
