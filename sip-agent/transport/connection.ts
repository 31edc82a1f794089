import type { Clock, Timer } from '../clock.ts'
import type { SipMessage } from '../message/message.ts'
import { SipParseError } from '../message/sip-parse-error.ts'
import { formatHost } from '../message/uri.ts'
import type { Hop } from '../route/types.ts'
import type { MessageReader } from './stream-framer.ts'
import type { Endpoint, Flow, Gatekeeper, TransportSink } from './types.ts'
import type { Wire, WireUser } from './wire.ts'

const pong = Buffer.from('\r\n')
/** A message that has begun, and the first one on a connection, must be there within this time, in ms. */
const messageTimeoutMs = 30_000
/** After a fault in the stream, the answer to it must be taken within this time, in ms. */
const endTimeoutMs = 2_000
/** Bytes that may wait for a peer that does not read. */
const maxBacklog = 1 << 20
/** The same where a stranger has connected: there may be hundreds. */
const maxUntrustedBacklog = 1 << 17

const success = Buffer.from('SIP/2.0 2')
const welcome = /\r\nCSeq: *[0-9]+ (?:INVITE|REGISTER|SUBSCRIBE|MESSAGE|PUBLISH|NOTIFY)\r\n/i

/** True for a 2xx that only those get who may do something here; anybody gets one to OPTIONS, or to the CANCEL of a call to nowhere. */
const isPrivileged2xx = (bytes: Buffer): boolean =>
  bytes.subarray(0, success.length).equals(success) && welcome.test(bytes.toString('latin1'))

/** What a connection needs of its listener. */
export interface ConnectionOwner {
  readonly local: Endpoint
  readonly sink: TransportSink
  readonly gate: Gatekeeper
  readonly clock: Clock
  /** A request says that the connection may also be used for requests to this port of its address (RFC 5923). */
  alias(connection: Connection, port: number): void
  gone(connection: Connection): void
}

/** Who is at the other end. */
export interface ConnectionPeer {
  readonly remote: Endpoint
  /** True where it connected to us. */
  readonly isAccepted: boolean
  /** The hosts that it has proved to be, lower case; for a connection of ours the host that it was made for. */
  readonly names: readonly string[]
}

/** One connection, accepted or made by us, of any transport but UDP. */
export class Connection implements Flow, WireUser {
  readonly isReliable = true
  readonly remote: Endpoint
  readonly isAccepted: boolean
  readonly names: readonly string[]
  readonly #owner: ConnectionOwner
  readonly #reader: MessageReader
  #wire: Wire | undefined
  /** What is to be sent once the connection is there, and its TLS is verified. */
  #waiting:
    | { readonly bytes: Buffer; readonly failed: ((reason: string) => void) | undefined }[]
    | undefined = []
  /** What ends the connection if it comes to nothing. */
  #limit: Timer | undefined
  /** True once it is known to be good for something: a message came, or our own connection was made. */
  #proven = false
  #served = false
  #heard: number
  /** True once the stream cannot be followed any further. */
  #ending = false
  #closed = false
  /** Why we ended it; else the wire says why it ended. */
  #reason: string | undefined

  constructor(peer: ConnectionPeer, owner: ConnectionOwner, reader: MessageReader) {
    this.remote = peer.remote
    this.isAccepted = peer.isAccepted
    this.names = peer.names
    this.#owner = owner
    this.#reader = reader
    this.#heard = owner.clock.now()
  }

  get local(): Endpoint {
    return this.#owner.local
  }

  get isClosed(): boolean {
    return this.#closed
  }

  /** True once its far end got a 2xx that not everybody gets. */
  get hasBeenServed(): boolean {
    return this.#served
  }

  /** When the last message came, else when it began; pings count for nothing. */
  get lastHeardAt(): number {
    return this.#heard
  }

  get problem(): string | undefined {
    return this.#reason
  }

  /** Takes its wire, which may still be on its way; it must be there within `ms`. */
  begin(wire: Wire, ms: number): void {
    this.#wire = wire
    this.#within(ms, `not connected within ${ms / 1_000} s`)
  }

  /** The wire is there: what waits is sent. One that was accepted must now bring a message. */
  opened(): void {
    const waiting = this.#waiting ?? []
    this.#waiting = undefined
    if (this.isAccepted) this.#within(messageTimeoutMs, 'no message came')
    else this.#prove()
    for (const { bytes, failed } of waiting) this.send(bytes, failed)
  }

  /** True where a request to this place may go over it: TLS is only good for whom it was verified for (RFC 5922, 5923). */
  canCarry({ host, port }: Hop): boolean {
    if (this.#closed || this.#ending) return false
    const { protocol, address } = this.remote
    if (protocol !== 'tls' && protocol !== 'wss') return true
    return this.names.includes(host.toLowerCase()) || (host === address && port === this.remote.port)
  }

  send(bytes: Buffer, failed?: (reason: string) => void): void {
    if (this.#closed) {
      if (failed) queueMicrotask(() => failed(this.#reason ?? 'the connection is closed'))
      return
    }
    const { backlog = 0 } = this.#waiting ? {} : (this.#wire ?? {})
    if (this.#isTooMuch(backlog) || (this.#waiting?.length ?? 0) > 1_000) this.fail('the peer does not read')
    this.#served ||= this.isAccepted && isPrivileged2xx(bytes)
    if (this.#waiting) this.#waiting.push({ bytes, failed })
    else
      this.#wire?.write(bytes, (error) => {
        if (error) failed?.(this.#reason ?? error.message)
      })
  }

  #isTooMuch(backlog: number): boolean {
    if (backlog <= maxUntrustedBacklog) return false
    const { gate } = this.#owner
    return backlog > maxBacklog || (this.isAccepted && !(gate.isTrusted?.(this.remote.address) ?? true))
  }

  /** Ends the connection at once. */
  fail(reason: string): void {
    this.#reason ??= reason
    this.#wire?.destroy()
  }

  /** Looks whether the peer is still there. */
  probe(): void {
    this.#wire?.probe()
  }

  data(bytes: Buffer): void {
    if (this.#closed || this.#ending) return
    if (!this.#owner.gate.admits(this.remote.protocol, this.remote.address, bytes)) {
      this.fail('not admitted')
      return
    }
    let messages = 0
    let pings = 0
    try {
      for (const item of this.#reader.push(bytes)) {
        if (item.kind === 'ping') pings++
        else if (messages++ > 0 && !this.#follows()) return
        else if (item.kind === 'message') this.#received(item.message, item.size)
        else this.#owner.sink.malformed(item.error, this)
      }
    } catch (error) {
      if (error instanceof SipParseError) this.#end(error)
      else {
        this.#owner.sink.fault?.(error)
        this.fail('a fault within the agent')
      }
      return
    }
    // Once for all that came together: who sends thousands at a time is not to have us write thousands of times.
    if (pings > 0) this.send(pong)
    this.#watch(messages + pings > 0)
  }

  ended(reason: string): void {
    if (this.#closed) return
    this.#closed = true
    this.#reason ??= reason
    if (this.#waiting) this.#reason = `${this.#where()}: ${this.#reason}`
    this.#limit?.cancel()
    const waiting = this.#waiting ?? []
    this.#waiting = undefined
    for (const { failed } of waiting) failed?.(this.#reason)
    this.#owner.gone(this)
    this.#owner.sink.lost(this, this.#reason)
  }

  /** The far end of a connection that was never made, for the text of the failure. */
  #where(): string {
    const { protocol, address, port } = this.remote
    return `${protocol} ${formatHost(address)}:${port} (${this.names[0] ?? address})`
  }

  /** True where the rate has room for another message of the same piece. */
  #follows(): boolean {
    if (this.#owner.gate.admitsNext?.(this.remote.address) ?? true) return true
    this.fail('not admitted')
    return false
  }

  #received(message: SipMessage, size: number): void {
    this.#heard = this.#owner.clock.now()
    if (message.kind === 'request' && message.via.params.has('alias')) {
      this.#owner.alias(this, message.via.port ?? 5061)
    }
    this.#owner.sink.received(message, this, size)
  }

  /** Answers a fault in the stream and ends it. Nothing more is read: a peer that does not take the answer cannot go on sending. */
  #end(error: SipParseError): void {
    this.#ending = true
    this.#owner.sink.malformed(error, this)
    this.#reason ??= 'a fault in the stream'
    this.#wire?.finish()
    this.#within(endTimeoutMs, 'a fault in the stream')
  }

  /** A stalled or silent peer does not hold a connection for ever; one that sends whole messages may, however they are cut. */
  #watch(complete: boolean): void {
    if (complete || (this.#proven && !this.#reader.isPartial)) this.#prove()
    if (this.#reader.isPartial && !this.#limit && !this.#closed) {
      this.#within(messageTimeoutMs, 'a message did not end')
    }
  }

  #prove(): void {
    this.#proven = true
    this.#limit?.cancel()
    this.#limit = undefined
  }

  #within(ms: number, reason: string): void {
    this.#limit?.cancel()
    this.#limit = this.#owner.clock.after(ms, () => this.fail(reason))
  }
}
