import type { Handler } from './drachtio/app-finder.ts'
import type { MessageLimits } from './message/limits.ts'
import type { Timers } from './transaction/timers.ts'
import type { Endpoint, Protocol } from './transport/types.ts'

/** Address to listen on. */
export interface SipListen {
  readonly transport: Protocol
  /** IP address; `0.0.0.0` for all of IPv4, `::` for all of IPv6. A listener has one family. */
  readonly address: string
  /** Port; 0 lets the system choose. */
  readonly port: number
}

/** Certificate with its chain, and its key, both PEM. */
export interface SipCertificate {
  readonly certificate: string
  readonly key: string
}

/** TLS settings of the TLS and WSS listeners. */
export interface SipTls extends SipCertificate {
  /** Certificates by the server name of the client (SNI). */
  readonly names: readonly (SipCertificate & { readonly host: string })[]
  /**
   * Certificate authorities, PEM, for accepted and opened connections. Default: those of Node and of the
   * system.
   */
  readonly ca?: string
  readonly clientCertificates: 'none' | 'request' | 'require'
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3'
}

/** TLS settings of connections to certain hosts. */
export interface SipTlsPeer {
  /** Hosts of next hops, as written in their URIs; compared without case. */
  readonly hosts: readonly string[]
  readonly ca?: string
  readonly certificate?: string
  readonly key?: string
  /**
   * Server name for SNI and for the check of the certificate; default the host. Wildcards of certificates do
   * not match (RFC 5922 7.2). A name that is a wildcard itself (`*.carrier.example`) must stand in the
   * certificate literally.
   */
  readonly serverName?: string
  readonly verify: boolean
  readonly alpn: readonly string[]
}

/** Settings of the shield in front of the parser; see `docs/operations.md`. */
export interface SipShield {
  /** Maximum number of packets per second from one address outside `known`. */
  readonly packetsPerSecond: number
  /** Maximum number of packets per second from one address in `known`. */
  readonly knownPacketsPerSecond: number
  /** Number of offenses within a minute that cause a ban. */
  readonly banAfter: number
  readonly banForMs: number
  /** Parts of User-Agent headers, in lower case. */
  readonly scanners: readonly string[]
  /** Treatment of requests from outside `known`. */
  readonly untrusted: 'answer' | 'drop'
  /** Networks (CIDR) of known senders. */
  readonly known: readonly string[]
}

/** Addresses of one carrier, for the rules on destinations. */
export interface SipReachCarrier {
  readonly name: string
  /** Project of the carrier; default every project. */
  readonly project?: string
  /**
   * Whether a customer created the carrier by the API: its settings must not open an address of another
   * carrier.
   */
  readonly isGuarded: boolean
  /**
   * Whether the carrier asks for no credentials: any call from the gateway's address is at the project's
   * expense.
   */
  readonly isByAddress: boolean
  /**
   * Whether the carrier takes certain telephone numbers only: a direct call must not bypass its lists.
   * Default false.
   */
  readonly hasNumberLists?: boolean
  /** SIP URIs of its targets. */
  readonly targets: readonly string[]
  /** Networks (CIDR) of its inbound calls. */
  readonly networks: readonly string[]
}

/**
 * Rules on the destinations of requests for which a far end or a customer chooses the destination. Public
 * addresses and the private networks listed here are permitted. The addresses of a carrier are permitted only
 * for its own dialogs. Requests outside dialogs are judged if the application names their far end by
 * {@link reachHeader}.
 */
export interface SipReach {
  /** Private networks (CIDR). */
  readonly networks: readonly string[]
  readonly carriers: readonly SipReachCarrier[]
  /**
   * Sites that the operator vouches for, each a list of networks (CIDR). A dialog that began in a site may
   * continue within it. Default none.
   */
  readonly sites?: readonly (readonly string[])[]
}

/** Settings that may change while the agent runs. Absent settings stay. */
export interface SipAgentChange {
  /** New certificates; open connections keep theirs. */
  readonly tls?: SipTls
  readonly tlsPeers?: readonly SipTlsPeer[]
  readonly shield?: SipShield
  readonly viaPortNetworks?: readonly string[]
  /** Applies to existing dialogs too. */
  readonly reach?: SipReach
}

/** Options of the agent. */
export interface SipAgentOptions {
  readonly listen: readonly SipListen[]
  /** Address for Via and Contact; default the bound one. */
  readonly announce?: string
  /** Addresses for peers of certain networks (CIDR); the first match takes precedence over `announce`. */
  readonly announceTo?: readonly { readonly networks: readonly string[]; readonly address: string }[]
  /** Required if a listener is `tls` or `wss`. */
  readonly tls?: SipTls
  readonly tlsPeers?: readonly SipTlsPeer[]
  /** Default: no shield. */
  readonly shield?: SipShield
  /**
   * Networks (CIDR) of peers that receive on another UDP port than the one they send from. Responses to their
   * requests without `rport` go to the port of the Via (RFC 3261 18.2.2). All other peers receive them at the
   * source port. Default none.
   */
  readonly viaPortNetworks?: readonly string[]
  /** Default: requests may go anywhere. */
  readonly reach?: SipReach
  /** Name servers, each `address[:port]`; default those of the system. */
  readonly nameServers?: readonly string[]
  /** Limits of received messages; default those of `message/limits.ts`. */
  readonly limits?: Partial<MessageLimits>
  /** Value of User-Agent and Server if the application sets none. Default: neither header is sent. */
  readonly userAgent?: string
  /**
   * Whether applications receive the 100 of a new INVITE too, so that they can distinguish a slow far end
   * from a silent one. A drachtio-server never delivers it, and an application that does not expect it may
   * pass it on. Default false.
   */
  readonly deliversTrying?: boolean
  /** Timer values in ms that differ from the standard ones, for tests. */
  readonly timers?: Partial<Timers>
  /**
   * Maximum number of open connections of a listener. One address may have a quarter, and untrusted peers
   * three quarters. Default 1,000.
   */
  readonly maxConnections?: number
  /**
   * Maximum number of server transactions, beyond which requests outside existing calls get 503. The limit
   * for untrusted peers is three quarters. Default 50,000.
   */
  readonly maxTransactions?: number
  /**
   * Option tags that a request may require (RFC 3261 19.2); others get 420. Default those of
   * `core/options.ts`.
   */
  readonly understood?: readonly string[]
  /**
   * Applications that the agent connects to for each new request of a method (`srf.listen`). Default none.
   */
  readonly handlers?: readonly Handler[]
  /**
   * Maximum number of unread bytes of an application, beyond which its connection is closed. From a quarter
   * on, new requests get 503. Default 16 MiB.
   */
  readonly maxBacklog?: number
}

/** A bound address. */
export interface SipAddress {
  readonly transport: Protocol
  readonly address: string
  readonly port: number
}

/** Gauges and counters of the agent. */
export interface SipAgentStats {
  /** Number of transactions of both sides. */
  readonly transactions: number
  readonly dialogs: number
  /**
   * Number of requests that wait for an application's response, and of applications' INVITEs without a final
   * response.
   */
  readonly pending: number
  /**
   * Number of 2xx responses that wait for their ACK, and of PRACKs that may arrive after the end of their
   * INVITE.
   */
  readonly unacknowledged: number
  /** Number of open connections to peers, of every transport but UDP. */
  readonly connections: number
  /** Number of connected applications. */
  readonly applications: number
  /** Number of responses and ACKs since the start that belong to no transaction. */
  readonly strays: number
  /** Number of packets and connections that the shield dropped since the start, by reason. */
  readonly dropped: Readonly<Record<ShieldReason, number>>
  /** Number of requests that the agent refused without an application since the start, by status. */
  readonly refused: Readonly<Record<string, number>>
  /** Number of dialogs since the start whose route was not followed; see {@link Diversion}. */
  readonly diverted: number
  /** Number of banned addresses. */
  readonly banned: number
  /** Number of contacts whose registration arrived over a connection that is still open. */
  readonly registeredFlows: number
}

/**
 * Request that the agent refused without an application. Texts of the far end are truncated, and otherwise
 * unchanged.
 */
export interface OwnRefusal {
  readonly status: number
  readonly method: string
  /** The request-URI; empty if it could not be read. */
  readonly uri: string
  /** Empty if it could not be read. */
  readonly callId: string
  /** IP address of the sender. */
  readonly source: string
  /** Fault in the request, unless the status names it. */
  readonly detail?: string
}

/**
 * Dialog whose requests are sent to the peer's address, because its route leads to a destination that is not
 * permitted. A carrier whose servers are not all in its `allow` networks causes this. Texts of the peer are
 * truncated, and otherwise unchanged.
 */
export interface Diversion {
  readonly callId: string
  /** Method of the first such request. */
  readonly method: string
  /** URI of Record-Route or Contact that was not followed. */
  readonly nextHop: string
  /** IP address that received the request instead. */
  readonly sentTo: string
  /** Name of the peer's carrier; absent for other peers. */
  readonly carrier?: string
}

/**
 * Header by which an application marks the refusal of an INVITE as an offense of the sender. After the ACK,
 * the offense counts towards a ban. The value is ignored. The header is private to the agent and its
 * applications: it never reaches the network, and is removed from received messages.
 */
export const offenseHeader = 'X-Trunkline-Offence'

/**
 * Header by which an application marks a response to an INVITE from an unverified address. Such a response is
 * retransmitted at most twice, and its ACK or PRACK is awaited for 10 * T1. This limits the traffic that a
 * spoofed INVITE directs to another address. The value is ignored. Private, like {@link offenseHeader}.
 */
export const unverifiedHeader = 'X-Trunkline-Unconfirmed'

/**
 * Header by which an application names the far end of a request outside dialogs, or, in a response to an
 * INVITE, that of the dialog. Its value is `carrier <name>`, or `project <id>` for a SIP URI that a project
 * dials without a carrier. Private, like {@link offenseHeader}.
 */
export const reachHeader = 'X-Trunkline-Reach'

/** Beginning of the agent's answer to a request whose destination is not permitted; the reason follows. */
export const notPermitted = 'not permitted: '

/** Reason for a drop by the shield; `tls`: failed TLS handshake of an accepted connection. */
export type ShieldReason = 'rate' | 'banned' | 'scanner' | 'stranger' | 'tls'

/** Returns the public form of a bound address. */
export const toAddress = (endpoint: Endpoint): SipAddress => ({
  transport: endpoint.protocol,
  address: endpoint.address,
  port: endpoint.port,
})

/** Message of the worker to its parent. */
export type FromWorker =
  | { readonly kind: 'ready'; readonly port: number; readonly addresses: readonly SipAddress[] }
  | { readonly kind: 'failed'; readonly problem: string }
  | { readonly kind: 'stats'; readonly stats: SipAgentStats }
  | { readonly kind: 'fault'; readonly problem: string }
  | { readonly kind: 'refused'; readonly refusal: OwnRefusal }
  | { readonly kind: 'diverted'; readonly diversion: Diversion }

/** Message of the parent to the worker. */
export type ToWorker =
  | { readonly kind: 'stats' }
  | { readonly kind: 'close' }
  | { readonly kind: 'change'; readonly change: SipAgentChange }
  | { readonly kind: 'failed-sign-in'; readonly address: string }
