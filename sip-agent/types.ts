import type { Handler } from './drachtio/app-finder.ts'
import type { MessageLimits } from './message/limits.ts'
import type { Timers } from './transaction/timers.ts'
import type { Endpoint, Protocol } from './transport/types.ts'

/** An address to listen on. */
export interface SipListen {
  readonly transport: Protocol
  /** IP address; `0.0.0.0` for all of IPv4, `::` for all of IPv6: a listener is of one family. */
  readonly address: string
  /** 0 lets the system choose. */
  readonly port: number
}

/** A certificate with its chain and its key, both PEM. */
export interface SipCertificate {
  readonly certificate: string
  readonly key: string
}

/** What the TLS and WSS listeners show and ask for. */
export interface SipTls extends SipCertificate {
  /** Chosen by the name that the client asks for (SNI). */
  readonly names: readonly (SipCertificate & { readonly host: string })[]
  /** PEM; default the authorities of Node and of the system. Also for connections that we make. */
  readonly ca?: string
  readonly clientCertificates: 'none' | 'request' | 'require'
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3'
}

/** TLS of the connections that we make to some hosts. */
export interface SipTlsPeer {
  /** Hosts of next hops, as their URIs have them; compared without case. */
  readonly hosts: readonly string[]
  readonly ca?: string
  readonly certificate?: string
  readonly key?: string
  /**
   * Name to ask for and to check; default the host. Wildcards of certificates prove nothing (RFC 5922 7.2), unless this is one
   * (`*.carrier.example`), which then has to stand in the certificate as it is.
   */
  readonly serverName?: string
  readonly verify: boolean
  readonly alpn: readonly string[]
}

/** The shield in front of the parser; see `docs/operations.md`. */
export interface SipShield {
  /** Packets a second from one address outside `known`. */
  readonly packetsPerSecond: number
  /** The same inside. */
  readonly knownPacketsPerSecond: number
  /** Offenses within a minute. */
  readonly banAfter: number
  readonly banForMs: number
  /** Parts of User-Agent headers, lower case. */
  readonly scanners: readonly string[]
  /** What requests from outside `known` get. */
  readonly untrusted: 'answer' | 'drop'
  /** CIDRs of those who may send. */
  readonly known: readonly string[]
}

/** Addresses of one carrier, for the rules on where requests may go. */
export interface SipReachCarrier {
  readonly name: string
  /** Project whose carrier it is; default every project's. */
  readonly project?: string
  /** True for a carrier that a customer made over the API: its settings open no address that is another carrier's. */
  readonly isGuarded: boolean
  /** True for a carrier that asks for no credentials of ours: whoever reaches it from our address calls at the project's expense. */
  readonly isByAddress: boolean
  /** True for a carrier that takes some telephone numbers only: no direct call may go round its lists. Default false. */
  readonly hasNumberLists?: boolean
  /** SIP URIs of its targets. */
  readonly targets: readonly string[]
  /** Networks (CIDR) that its calls come from. */
  readonly networks: readonly string[]
}

/**
 * Rules on where requests may go that a far end or a customer routes: to public addresses and the private networks named here, and never
 * to the addresses of a carrier but its own dialogs. Requests outside dialogs are judged where the application names their far end by
 * {@link reachHeader}.
 */
export interface SipReach {
  /** Private networks (CIDR). */
  readonly networks: readonly string[]
  readonly carriers: readonly SipReachCarrier[]
  /** Sites that the operator vouches for, each a list of networks (CIDR): a dialog that began in one may go on within it. Default none. */
  readonly sites?: readonly (readonly string[])[]
}

/** What may change while the agent runs. What is left out stays. */
export interface SipAgentChange {
  /** New certificates: connections that are open keep theirs. */
  readonly tls?: SipTls
  readonly tlsPeers?: readonly SipTlsPeer[]
  readonly shield?: SipShield
  readonly viaPortNetworks?: readonly string[]
  /** Holds for dialogs in progress too. */
  readonly reach?: SipReach
}

/** How the agent is set up. */
export interface SipAgentOptions {
  readonly listen: readonly SipListen[]
  /** The address that peers are told in Via and Contact, where it is not the bound one. */
  readonly announce?: string
  /** The same for peers of certain networks (CIDR); the first that fits goes before `announce`. */
  readonly announceTo?: readonly { readonly networks: readonly string[]; readonly address: string }[]
  /** Needed where a listener is `tls` or `wss`. */
  readonly tls?: SipTls
  readonly tlsPeers?: readonly SipTlsPeer[]
  /** Default: no shield. */
  readonly shield?: SipShield
  /**
   * Networks (CIDR) of peers that listen on another UDP port than they send from: responses to their requests without `rport` go to the port of
   * the Via (RFC 3261 18.2.2). Everyone else gets them at the source port. Default none.
   */
  readonly viaPortNetworks?: readonly string[]
  /** Default: requests may go anywhere. */
  readonly reach?: SipReach
  /** Name servers, each `address[:port]`; default those of the system. */
  readonly nameServers?: readonly string[]
  /** Limits of received messages; default those of `message/limits.ts`. */
  readonly limits?: Partial<MessageLimits>
  /** Value of User-Agent and Server where the application gives none. Default: neither header is sent. */
  readonly userAgent?: string
  /**
   * Applications are handed the 100 of a new INVITE too, so that they can tell a slow far side from a silent one. A drachtio-server never
   * hands it over, and an application that does not expect it may pass it on. Default false.
   */
  readonly deliversTrying?: boolean
  /** Changed timer values in ms, for tests. */
  readonly timers?: Partial<Timers>
  /**
   * Open connections per listener; more are refused, and more than a quarter from one address. Whom the shield does not know may have three
   * quarters. Default 1,000.
   */
  readonly maxConnections?: number
  /**
   * Transactions of received requests at once; beyond it what belongs to no call gets 503. Whom the shield does not know gets it from three
   * quarters on. Default 50,000.
   */
  readonly maxTransactions?: number
  /** Option tags that a request may require (RFC 3261 19.2); others get 420. Default those of `core/options.ts`. */
  readonly understood?: readonly string[]
  /** Applications that the agent connects to for each new request of a method (`srf.listen`). Default none. */
  readonly handlers?: readonly Handler[]
  /** Bytes that may wait for an application that does not read; then it is cut off. From a quarter on, new requests get 503. Default 16 MiB. */
  readonly maxBacklog?: number
}

/** A bound address. */
export interface SipAddress {
  readonly transport: Protocol
  readonly address: string
  readonly port: number
}

/** How much of everything the agent holds at the moment. */
export interface SipAgentStats {
  /** Transactions of both sides. */
  readonly transactions: number
  readonly dialogs: number
  /** Requests that wait for an application's answer, and INVITEs of applications without a final response. */
  readonly pending: number
  /** 2xx responses that wait for their ACK, and PRACKs that may come after the end of their INVITE. */
  readonly unacknowledged: number
  /** Open connections to peers, of every transport but UDP. */
  readonly connections: number
  /** Connected applications. */
  readonly applications: number
  /** Responses and ACKs that belonged to nothing, since the start. */
  readonly strays: number
  /** Packets and connections that the shield dropped since the start, by reason. */
  readonly dropped: Readonly<Record<ShieldReason, number>>
  /** Requests that the agent refused without an application since the start, by status. */
  readonly refused: Readonly<Record<string, number>>
  /** Dialogs since the start whose route was not followed; see {@link Diversion}. */
  readonly diverted: number
  /** Addresses that are banned at the moment. */
  readonly banned: number
  /** Contacts whose registration came over a connection that is still open (drachtio's own memory, page 9.3). */
  readonly registeredFlows: number
}

/** A request that the agent refused without an application. What the far side wrote is cut and otherwise as it came. */
export interface OwnRefusal {
  readonly status: number
  readonly method: string
  /** The request-URI; empty where it could not be read. */
  readonly uri: string
  /** Empty where it could not be read. */
  readonly callId: string
  /** The IP address that it came from. */
  readonly source: string
  /** What was wrong, where the status does not say it. */
  readonly detail?: string
}

/**
 * A dialog whose requests go back to the peer, because its route leads to a place that the dialog may not reach. A carrier whose servers are
 * not in its `allow` networks looks like this. Texts of the peer are cut and otherwise as they came.
 */
export interface Diversion {
  readonly callId: string
  /** Method of the first such request. */
  readonly method: string
  /** URI of Record-Route or Contact that was not followed. */
  readonly nextHop: string
  /** IP address that the request went to instead. */
  readonly sentTo: string
  /** Name of the carrier that the peer is; absent for other peers. */
  readonly carrier?: string
}

/**
 * Header by which an application says with its refusal of an INVITE that the sender is to blame: once it is acknowledged, it counts towards a
 * ban. The value means nothing. Private to the agent and its applications: it neither goes out nor comes in over the network.
 */
export const offenseHeader = 'X-Trunkline-Offence'

/**
 * Header by which an application says with a response to an INVITE that its sender has yet to prove that it is at its address. Such a
 * response is repeated twice at most, and an ACK or PRACK is awaited for 10 * T1: a forged INVITE must not make the agent send much to
 * somebody else. The value means nothing. Private to the agent and its applications, as {@link offenseHeader} is.
 */
export const unverifiedHeader = 'X-Trunkline-Unconfirmed'

/**
 * Header by which an application names the far end of a request outside dialogs, or, in a response to an INVITE, that of the dialog:
 * `carrier <name>`, or `project <id>` for a SIP URI that a project dials without a carrier. Private to the agent and its applications: it
 * neither goes out nor comes in over the network.
 */
export const reachHeader = 'X-Trunkline-Reach'

/** Beginning of the agent's answer to a request that may not go where it leads; the reason follows. */
export const notPermitted = 'not permitted: '

/** Why the shield dropped something; `tls`: the TLS handshake of a connection that was accepted came to nothing. */
export type ShieldReason = 'rate' | 'banned' | 'scanner' | 'stranger' | 'tls'

/** The public form of a bound address. */
export const toAddress = (endpoint: Endpoint): SipAddress => ({
  transport: endpoint.protocol,
  address: endpoint.address,
  port: endpoint.port,
})

/** What the worker tells its parent. */
export type FromWorker =
  | { readonly kind: 'ready'; readonly port: number; readonly addresses: readonly SipAddress[] }
  | { readonly kind: 'failed'; readonly problem: string }
  | { readonly kind: 'stats'; readonly stats: SipAgentStats }
  | { readonly kind: 'fault'; readonly problem: string }
  | { readonly kind: 'refused'; readonly refusal: OwnRefusal }
  | { readonly kind: 'diverted'; readonly diversion: Diversion }

/** What the parent asks of the worker. */
export type ToWorker =
  | { readonly kind: 'stats' }
  | { readonly kind: 'close' }
  | { readonly kind: 'change'; readonly change: SipAgentChange }
  | { readonly kind: 'failed-sign-in'; readonly address: string }
