import type { SipMessage } from '../message/message.ts'
import type { SipParseError } from '../message/sip-parse-error.ts'

/** The transports that the agent speaks (RFC 3261, RFC 7118). */
export type Protocol = 'udp' | 'tcp' | 'tls' | 'ws' | 'wss'

/** A transport address. */
export interface Endpoint {
  readonly protocol: Protocol
  /** IP address, IPv6 without brackets. */
  readonly address: string
  readonly port: number
}

/** A way to one peer: a UDP socket with a destination, or a TCP connection. */
export interface Flow {
  readonly remote: Endpoint
  /** The listening transport it belongs to: where peers reach us. */
  readonly local: Endpoint
  /** True where the transport repeats lost data itself, so that no message is retransmitted (RFC 3261 17). */
  readonly isReliable: boolean
  /** True once nothing can be sent any more. */
  readonly isClosed: boolean
  /** Why the last thing that was sent could not be, or why the connection ended, for a log or a `Warning`. */
  readonly problem?: string
  /** Sends one message. `failed` is called at most once, later, if it could not be sent. */
  send(bytes: Buffer, failed?: (reason: string) => void): void
}

/**
 * Origin of a place that requests are sent to. `us`: the gateway's configuration; its messages are expected from then on. `customer`: a
 * document or a dialled URI. `peer`: a header of a far end; a connection to such a place must not push out others.
 */
export type ChosenBy = 'us' | 'customer' | 'peer'

/** What the transports report to the layer above. */
export interface TransportSink {
  /** A message whose structure was checked; `size` in bytes. */
  received(message: SipMessage, flow: Flow, size: number): void
  /** Something that is not SIP, or not quite. A request may be answered with `error.status`. */
  malformed(error: SipParseError, flow: Flow): void
  /** A connection is gone, or was never made; `reason` says why, for logs. */
  lost(flow: Flow, reason: string): void
  /** An error of our own while a message was read: it costs the message, or the connection, and not the agent. */
  fault?(error: unknown): void
}

/** Decides, before anything is parsed, what comes in at all. Called for every packet: it must be quick and must not throw. */
export interface Gatekeeper {
  /** A datagram, a WebSocket message or a piece of a stream. False drops it, and ends the connection that it came on. */
  admits(protocol: Protocol, address: string, bytes: Buffer): boolean
  /** A new connection, before its TLS handshake. False closes it without a word. */
  accepts(protocol: Protocol, address: string): boolean
  /** The TLS handshake of a connection that was accepted came to nothing: for the statistics. */
  handshakeFailed?(): void
  /** True for one for whom room is kept that others may not take. Default: everybody. */
  isTrusted?(address: string): boolean
  /** One more message of a piece of a stream that was admitted. False ends the connection. */
  admitsNext?(address: string): boolean
  /** We are about to send to an address by our own choice: what comes from there is expected. */
  trustPeer?(address: string): void
}

/** Lets everybody in. */
export const openGate: Gatekeeper = { admits: () => true, accepts: () => true }
