import type { SipMessage } from '../message/message.ts'
import type { SipParseError } from '../message/sip-parse-error.ts'

/** Transports of the agent (RFC 3261, RFC 7118). */
export type Protocol = 'udp' | 'tcp' | 'tls' | 'ws' | 'wss'

/** Returns the default port of a protocol (RFC 3261 19.1.2, RFC 7118 5.3). */
export const defaultPort = (protocol: Protocol): number =>
  ({ udp: 5060, tcp: 5060, tls: 5061, ws: 80, wss: 443 })[protocol]

/** Transport address. */
export interface Endpoint {
  readonly protocol: Protocol
  /** IP address, IPv6 without brackets. */
  readonly address: string
  readonly port: number
}

/** Destination of a request: address, port and transport. */
export interface Hop {
  readonly protocol: Protocol
  /** IP address, IPv6 without brackets. */
  readonly address: string
  readonly port: number
  /** Host of the URI, which TLS asks for and checks (RFC 5922). */
  readonly host: string
  /** The same destination over TCP, for a request too large for UDP (RFC 3261 18.1.1). */
  readonly overTcp?: Hop
  /**
   * Set on a hop of {@link overTcp}. Its connection must open within a short time, because the peer may not
   * listen on TCP.
   */
  readonly isTentative?: true
}

/** Path to one peer: a UDP socket with a destination, or a connection. */
export interface Flow {
  readonly remote: Endpoint
  /** Listening transport of the flow, at which peers reach the agent. */
  readonly local: Endpoint
  /**
   * Whether the transport retransmits lost data itself, so that messages are not retransmitted (RFC 3261 17).
   */
  readonly isReliable: boolean
  /** Whether the flow cannot send any more. */
  readonly isClosed: boolean
  /** Reason of the latest failure to send, or of the end of the connection, for a log or a `Warning`. */
  readonly problem?: string
  /** Sends one message. `failed` is called at most once, later, if it could not be sent. */
  send(bytes: Buffer, failed?: (reason: string) => void): void
}

/**
 * Origin of a destination. `us`: the gateway's configuration; messages from there are expected then.
 * `customer`: a document or a dialled URI. `peer`: a header of a far end; a connection to such a destination
 * must not replace another connection.
 */
export type ChosenBy = 'us' | 'customer' | 'peer'

/** Receiver of the transports' events. */
export interface TransportSink {
  /** Receives a message with a checked structure; `size` in bytes. */
  received(message: SipMessage, flow: Flow, size: number): void
  /** Receives the fault of a malformed message. A request may be answered with `error.status`. */
  malformed(error: SipParseError, flow: Flow): void
  /** Called after a connection was lost, or failed to open; `reason` is for logs. */
  lost(flow: Flow, reason: string): void
  /**
   * Receives an internal error while a message was read. Only the message or the connection is lost; the
   * agent continues.
   */
  fault?(error: unknown): void
  /** Receives the bytes of each message on their way; they are valid during the call only. */
  traced?(direction: 'received' | 'sent', bytes: Buffer, flow: Pick<Flow, 'local' | 'remote'>): void
}

/** Filter before parsing. Called for every packet: it must be quick and must not throw. */
export interface Gatekeeper {
  /**
   * Admits a datagram, a WebSocket message or a chunk of a stream. False drops the bytes and closes their
   * connection.
   */
  admits(protocol: Protocol, address: string, bytes: Buffer): boolean
  /** Admits a new connection, before its TLS handshake. False closes it silently. */
  accepts(protocol: Protocol, address: string): boolean
  /** Counts a failed TLS handshake of an accepted connection. */
  handshakeFailed?(): void
  /** Returns whether connections and transactions are reserved for an address. Default: true. */
  isTrusted?(address: string): boolean
  /** Admits one more message of an admitted chunk. False closes the connection. */
  admitsNext?(address: string): boolean
  /** Notes that the agent sends to an address by its own choice: messages from there are expected. */
  trustPeer?(address: string): void
}

/** Filter that admits every packet. */
export const openGate: Gatekeeper = { admits: () => true, accepts: () => true }
