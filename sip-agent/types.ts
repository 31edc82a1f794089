import type { Diversion } from './core/diversions.ts'
import type { OwnRefusal } from './core/own-refusals.ts'
import type { Handler } from './drachtio/app-finder.ts'
import type { MessageLimits } from './message/limits.ts'
import type { SipReach } from './reach/reach-settings.ts'
import type { ShieldReason, SipShield } from './shield/shield-settings.ts'
import type { Timers } from './transaction/timers.ts'
import type { TracedMessage, TraceLimits } from './transport/message-trace.ts'
import type { SipTls, SipTlsPeer, TransportSettings } from './transport/transport-settings.ts'
import type { Endpoint, Protocol } from './transport/types.ts'

/** Address to listen on. */
export interface SipListen {
  readonly transport: Protocol
  /** IP address; `0.0.0.0` for all of IPv4, `::` for all of IPv6. A listener has one family. */
  readonly address: string
  /** Port; 0 lets the system choose. */
  readonly port: number
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
export interface SipAgentOptions extends TransportSettings {
  readonly listen: readonly SipListen[]
  /** Default: no shield. */
  readonly shield?: SipShield
  /** Default: requests may go anywhere. */
  readonly reach?: SipReach
  /** Name servers, each `address[:port]`; default: the servers of the system. */
  readonly nameServers?: readonly string[]
  /** Limits of received messages; default: the limits in `message/limits.ts`. */
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
  /** Memory for the latest messages, which `SipAgent.trace` returns. Default: none are kept. */
  readonly trace?: TraceLimits
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
  /** Number of requests that the agent rejected without an application since the start, by status. */
  readonly refused: Readonly<Record<string, number>>
  /** Number of dialogs since the start whose route was not followed; see {@link Diversion}. */
  readonly diverted: number
  /** Number of banned addresses. */
  readonly banned: number
  /** Number of contacts whose registration arrived over a connection that is still open. */
  readonly registeredFlows: number
}

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
  | { readonly kind: 'traced'; readonly messages: readonly TracedMessage[] }

/** Message of the parent to the worker. */
export type ToWorker =
  | { readonly kind: 'stats' }
  | { readonly kind: 'close' }
  | { readonly kind: 'change'; readonly change: SipAgentChange }
  | { readonly kind: 'failed-sign-in'; readonly address: string }
  | { readonly kind: 'trace'; readonly callIds: readonly string[] }
