import type { Timers } from './transaction/timers.ts'
import type { Endpoint, Protocol } from './transport/types.ts'

/** An address to listen on. */
export interface SipListen {
  readonly transport: Protocol
  /** IP address; `0.0.0.0` or `::` for all. */
  readonly address: string
  /** 0 lets the system choose. */
  readonly port: number
}

/** How the agent is set up. */
export interface SipAgentOptions {
  readonly listen: readonly SipListen[]
  /** The address that peers are told in Via and Contact, where it is not the bound one. */
  readonly announce?: string
  /** Value of User-Agent and Server where the application gives none. Default: neither header is sent. */
  readonly userAgent?: string
  /** Changed timer values in ms, for tests. */
  readonly timers?: Partial<Timers>
  /** Open TCP connections per listener; more are refused, and more than a quarter from one address. Default 1,000. */
  readonly maxConnections?: number
  /** Transactions of received requests at once; beyond it what belongs to no call gets 503. Default 50,000. */
  readonly maxTransactions?: number
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
  /** 2xx responses that wait for their ACK. */
  readonly unacknowledged: number
  /** Open TCP connections to peers. */
  readonly connections: number
  /** Connected applications. */
  readonly applications: number
}

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
  | { readonly kind: 'closed' }

/** What the parent asks of the worker. */
export type ToWorker = { readonly kind: 'stats' } | { readonly kind: 'close' }
