import type { Clock, Timer } from '../clock.ts'
import type { SipMessage } from '../message/message.ts'
import { SipParseError } from '../message/sip-parse-error.ts'
import { formatHost } from '../message/uri.ts'
import type { MessageReader } from './stream-framer.ts'
import type { Endpoint, Flow, Gatekeeper, Hop, TransportSink } from './types.ts'
import type { Wire, WireUser } from './wire.ts'

const pong = Buffer.from('\r\n')
/** Maximum time in ms for a message that has begun, and for the first one on a connection. */
const messageTimeoutMs = 30_000
/** Maximum time in ms for a peer to take the response to a fault in the stream. */
const endTimeoutMs = 2_000
/** Maximum number of bytes that a peer has not read. */
const maxBacklog = 1 << 20
/**
 * Maximum number of bytes that an untrusted peer has not read; small, because there may be hundreds of such
 * peers.
 */
const maxUntrustedBacklog = 1 << 17

const success = Buffer.from('SIP/2.0 2')
const privileged = new Set(['INVITE', 'REGISTER', 'SUBSCRIBE', 'MESSAGE', 'PUBLISH', 'NOTIFY'])

/** Returns the method in the CSeq of a serialised message; empty without one. */
const methodOf = (bytes: Buffer): string =>
  /\r\nCSeq: *[0-9]+ (\S+)\r\n/i.exec(bytes.toString('latin1'))?.[1] ?? ''

/**
 * Returns whether bytes are a 2xx to a method that only permitted peers may use. A 2xx to OPTIONS or CANCEL
 * proves nothing, because every peer gets one.
 */
const isPrivileged2xx = (bytes: Buffer): boolean =>
  bytes.subarray(0, success.length).equals(success) && privileged.has(methodOf(bytes).toUpperCase())

/** Listener of a connection, with the values that the connection needs. */
export interface ConnectionOwner {
  readonly local: Endpoint
  readonly sink: TransportSink
  readonly gate: Gatekeeper
  readonly clock: Clock
  /** Handles a request whose Via allows reuse of the connection for requests to this port (RFC 5923). */
  alias(connection: Connection, port: number): void
  gone(connection: Connection): void
}

/** Peer of a connection. */
export interface ConnectionPeer {
  readonly remote: Endpoint
  /** Whether the peer opened the connection. */
  readonly isAccepted: boolean
  /**
   * Host names that the peer's certificate proved, in lower case. For a connection that the agent opened, the
   * host name it was opened for.
   */
  readonly names: readonly string[]
}

/** Connection of any transport but UDP, accepted or opened by the agent. */
export class Connection implements Flow, WireUser {
  readonly isReliable = true
  readonly remote: Endpoint
  readonly isAccepted: boolean
  readonly names: readonly string[]
  readonly #owner: ConnectionOwner
  readonly #reader: MessageReader
  #wire: Wire | undefined
  /** Messages to send once the connection is open and its TLS is verified. */
  #waiting:
    | { readonly bytes: Buffer; readonly failed: ((reason: string) => void) | undefined }[]
    | undefined = []
  /**
   * Closes a connection that does not open in time, or on which an expected message does not arrive or end in
   * time.
   */
  #limit: Timer | undefined
  /**
   * Whether the peer is known to respond: a message arrived, or a connection that the agent opened was
   * established.
   */
  #isProven = false
  #isServed = false
  #receivedAt: number
  /** Whether the stream cannot be read any further. */
  #isEnding = false
  #isClosed = false
  /** Reason for the end of the connection: the agent's, or else the one that the wire reports. */
  #reason: string | undefined

  constructor(peer: ConnectionPeer, owner: ConnectionOwner, reader: MessageReader) {
    this.remote = peer.remote
    this.isAccepted = peer.isAccepted
    this.names = peer.names
    this.#owner = owner
    this.#reader = reader
    this.#receivedAt = owner.clock.now()
  }

  get local(): Endpoint {
    return this.#owner.local
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Whether the peer has received a 2xx of the kind that only permitted peers get. */
  get hasBeenServed(): boolean {
    return this.#isServed
  }

  /** Time of the latest message, or of the start; pings do not count. */
  get lastHeardAt(): number {
    return this.#receivedAt
  }

  get problem(): string | undefined {
    return this.#reason
  }

  /** Assigns the wire, which may not be open yet but must open within `ms`. */
  begin(wire: Wire, ms: number): void {
    this.#wire = wire
    this.#within(ms, `not connected within ${ms / 1_000} s`)
  }

  /**
   * Handles the opening of the wire: sends waiting messages. On an accepted connection, the peer's first
   * message must arrive within 30 s.
   */
  opened(): void {
    const waiting = this.#waiting ?? []
    this.#waiting = undefined
    if (this.isAccepted) this.#within(messageTimeoutMs, 'no message arrived in time')
    else this.#prove()
    for (const { bytes, failed } of waiting) this.send(bytes, failed)
  }

  /**
   * Returns whether a request to this hop may use the connection. TLS is valid only for the hosts that it was
   * verified for (RFC 5922, 5923).
   */
  canCarry({ host, port }: Hop): boolean {
    if (this.#isClosed || this.#isEnding) return false
    const { protocol, address } = this.remote
    if (protocol !== 'tls' && protocol !== 'wss') return true
    return this.names.includes(host.toLowerCase()) || (host === address && port === this.remote.port)
  }

  send(bytes: Buffer, failed?: (reason: string) => void): void {
    if (this.#isClosed) {
      if (failed) queueMicrotask(() => failed(this.#reason ?? 'the connection is closed'))
      return
    }
    const { backlog = 0 } = this.#waiting ? {} : (this.#wire ?? {})
    if (this.#isTooMuch(backlog) || (this.#waiting?.length ?? 0) > 1_000) this.fail('the peer does not read')
    this.#isServed ||= this.isAccepted && isPrivileged2xx(bytes)
    if (this.#waiting) this.#waiting.push({ bytes, failed })
    else {
      this.#owner.sink.traced?.('sent', bytes, this)
      this.#wire?.write(bytes, (error) => {
        if (error) failed?.(this.#reason ?? error.message)
      })
    }
  }

  #isTooMuch(backlog: number): boolean {
    if (backlog <= maxUntrustedBacklog) return false
    const { gate } = this.#owner
    return backlog > maxBacklog || (this.isAccepted && !(gate.isTrusted?.(this.remote.address) ?? true))
  }

  /** Closes the connection at once. */
  fail(reason: string): void {
    this.#reason ??= reason
    this.#wire?.destroy()
  }

  /** Checks whether the peer still responds. */
  probe(): void {
    this.#wire?.probe()
  }

  data(bytes: Buffer): void {
    if (this.#isClosed || this.#isEnding) return
    if (!this.#owner.gate.admits(this.remote.protocol, this.remote.address, bytes)) {
      this.fail('not admitted')
      return
    }
    let messages = 0
    let pings = 0
    try {
      for (const item of this.#reader.push(bytes)) {
        if (item.kind === 'ping') {
          pings++
          continue
        }
        if (messages++ > 0 && !this.#follows()) return
        this.#owner.sink.traced?.('received', item.bytes, this)
        if (item.kind === 'message') this.#received(item.message, item.size)
        else this.#owner.sink.malformed(item.error, this)
      }
    } catch (error) {
      if (error instanceof SipParseError) this.#end(error)
      else {
        this.#owner.sink.fault?.(error)
        this.fail('internal error of the agent')
      }
      return
    }
    // Once for all pings of a chunk: a peer that sends thousands must not cause thousands of writes.
    if (pings > 0) this.send(pong)
    this.#watch(messages + pings > 0)
  }

  ended(reason: string): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#reason ??= reason
    if (this.#waiting) this.#reason = `${this.#where()}: ${this.#reason}`
    this.#limit?.cancel()
    const waiting = this.#waiting ?? []
    this.#waiting = undefined
    for (const { failed } of waiting) failed?.(this.#reason)
    this.#owner.gone(this)
    this.#owner.sink.lost(this, this.#reason)
  }

  /** Returns the address of a connection that never opened, for the text of the failure. */
  #where(): string {
    const { protocol, address, port } = this.remote
    return `${protocol} ${formatHost(address)}:${port} (${this.names[0] ?? address})`
  }

  /** Returns whether the rate admits another message of the same chunk. */
  #follows(): boolean {
    if (this.#owner.gate.admitsNext?.(this.remote.address) ?? true) return true
    this.fail('not admitted')
    return false
  }

  #received(message: SipMessage, size: number): void {
    this.#receivedAt = this.#owner.clock.now()
    if (message.kind === 'request' && message.via.params.has('alias')) {
      this.#owner.alias(this, message.via.port ?? 5061)
    }
    this.#owner.sink.received(message, this, size)
  }

  /**
   * Answers a fault in the stream, stops reading, and closes the connection, even if the peer does not read
   * the response.
   */
  #end(error: SipParseError): void {
    this.#isEnding = true
    this.#owner.sink.malformed(error, this)
    this.#reason ??= 'a fault in the stream'
    this.#wire?.finish()
    this.#within(endTimeoutMs, 'a fault in the stream')
  }

  /**
   * Limits the time of a stalled or silent peer. `complete`: the peer has completed a message. A peer that
   * keeps completing messages has no limit, however its messages are split into chunks.
   */
  #watch(complete: boolean): void {
    if (complete || (this.#isProven && !this.#reader.isPartial)) this.#prove()
    if (this.#reader.isPartial && !this.#limit && !this.#isClosed) {
      this.#within(messageTimeoutMs, 'an incomplete message timed out')
    }
  }

  #prove(): void {
    this.#isProven = true
    this.#limit?.cancel()
    this.#limit = undefined
  }

  #within(ms: number, reason: string): void {
    this.#limit?.cancel()
    this.#limit = this.#owner.clock.after(ms, () => this.fail(reason))
  }
}
