import { isIPv6 } from 'node:net'
import type { Clock } from '../clock.ts'
import type { MessageLimits } from '../message/limits.ts'
import type { HostPort } from '../message/uri.ts'
import { Networks } from '../networks.ts'
import { defaultPort } from '../route/target.ts'
import type { Hop } from '../route/types.ts'
import type { SipAgentChange, SipAgentOptions } from '../types.ts'
import { isLoopback, OwnAddresses } from './own-addresses.ts'
import { StreamTransport } from './stream.ts'
import { TlsSettings } from './tls.ts'
import type { ChosenBy, Endpoint, Flow, Gatekeeper, Protocol, TransportSink } from './types.ts'
import { UdpTransport } from './udp.ts'

type Bound = UdpTransport | StreamTransport

/** What the transports are made of. */
export interface TransportsDeps
  extends Pick<SipAgentOptions, 'announce' | 'announceTo' | 'tls' | 'tlsPeers' | 'viaPortNetworks'> {
  readonly sink: TransportSink
  readonly limits: MessageLimits
  readonly clock: Clock
  /** Accepted connections per listener; more are refused, more than a quarter from one address, and more than three from strangers. */
  readonly maxConnections: number
  /** Asked before anything is parsed. */
  readonly gatekeeper: Gatekeeper
}

/** All bound transports. */
export class Transports {
  readonly #bound: Bound[] = []
  readonly #options: TransportsDeps
  readonly #own: OwnAddresses
  readonly #tls: TlsSettings
  readonly #viaPort: Networks
  #closing = false

  /** Throws if an entry of `announceTo` or `viaPortNetworks` is no network. */
  constructor(options: TransportsDeps) {
    const { clock, announce, announceTo, tls, tlsPeers, viaPortNetworks } = options
    this.#viaPort = new Networks(viaPortNetworks)
    this.#options = options
    this.#own = new OwnAddresses(clock, announce, announceTo)
    this.#tls = new TlsSettings(tls, tlsPeers)
  }

  /** Binds one more address; rejects with an error that says which one. */
  async open(listen: { transport: Protocol; address: string; port: number }): Promise<void> {
    const { transport, address, port } = listen
    const { sink, limits, clock, maxConnections, gatekeeper: gate } = this.#options
    const bound =
      transport === 'udp'
        ? new UdpTransport(address, sink, limits, gate, this.#viaPort)
        : new StreamTransport(transport, { sink, limits, clock, gate, maxConnections, tls: this.#tls })
    try {
      await bound.open(address, port)
    } catch (error) {
      throw new Error(`cannot bind ${transport} ${address}:${port}: ${(error as Error).message}`, {
        cause: error,
      })
    }
    this.#bound.push(bound)
  }

  /** The bound addresses. */
  get addresses(): Endpoint[] {
    return this.#bound.map((each) => each.local)
  }

  /** Open connections to peers. */
  get connections(): number {
    return this.#streams().reduce((sum, each) => sum + each.connections, 0)
  }

  /** True where this is one of the agent's own addresses, bound or announced. */
  isOwn(protocol: Protocol, host: string, port: number): boolean {
    return this.#own.isOwn(this.addresses, protocol, host, port)
  }

  /** True where a transport of this protocol is bound; of this family too, where one is given. */
  reaches(protocol: Protocol, family?: 4 | 6): boolean {
    return this.#of(protocol).some(({ local }) => !family || isIPv6(local.address) === (family === 6))
  }

  /**
   * The way to a place: an open connection, whoever opened it, else a new one. Undefined where no transport of that protocol and
   * family is bound, and for a WebSocket that is not open. `by` chose the place.
   */
  flow(hop: Hop, by: ChosenBy): Flow | undefined {
    if (by === 'us') this.#options.gatekeeper.trustPeer?.(hop.address)
    return this.#find(hop) ?? this.#connect(hop, by === 'peer')
  }

  #fitting(hop: Hop): Bound[] {
    const six = isIPv6(hop.address)
    return this.#closing ? [] : this.#of(hop.protocol).filter((each) => isIPv6(each.local.address) === six)
  }

  #find(hop: Hop): Flow | undefined {
    for (const each of this.#fitting(hop)) {
      const open = each instanceof StreamTransport ? each.find(hop) : undefined
      if (open) return open
    }
    return undefined
  }

  #connect(hop: Hop, spare: boolean): Flow | undefined {
    const fitting = this.#fitting(hop)
    // A loopback socket cannot reach the world, so it is the last choice for what is not loopback, and the first for what is.
    const near = isLoopback(hop.address)
    const best = fitting.find((each) => isLoopback(each.local.address) === near) ?? fitting[0]
    return best instanceof UdpTransport ? best.flow(hop.address, hop.port) : best?.connect(hop, spare)
  }

  /**
   * The way for a response: that of its request or, where that connection is gone, a new one to the port of the Via (RFC 3261 18.2.2).
   * Undefined where there is none: a WebSocket client cannot be reached again. Whoever sends a request chooses that port, so that such
   * connections must not push out others.
   */
  back(flow: Flow, via: HostPort): Flow | undefined {
    if (!flow.isClosed) return flow
    return flow.remote.protocol === 'udp' ? undefined : this.#again(flow.remote, via)
  }

  /** The same where only the far end of the request's way is known. */
  backTo(remote: Endpoint, via: HostPort): Flow | undefined {
    const hop = { ...remote, host: remote.address }
    if (remote.protocol === 'udp') return this.#connect(hop, true)
    return this.#find(hop) ?? this.#again(remote, via)
  }

  #again({ protocol, address }: Endpoint, via: HostPort): Flow | undefined {
    const hop = { protocol, address, port: via.port ?? defaultPort(protocol), host: via.host }
    return this.#find(hop) ?? this.#connect(hop, true)
  }

  /** The host that a peer at `remote` should use to reach `local`; what is said in general without a peer. */
  ownHost(local: Endpoint, remote?: string): string {
    return this.#own.hostFor(local, remote)
  }

  /** Takes new certificates for new connections, and new networks. Throws, and changes nothing, if one cannot be used. */
  change(change: Pick<SipAgentChange, 'tls' | 'tlsPeers' | 'viaPortNetworks'>): void {
    const { tls, tlsPeers, viaPortNetworks } = change
    if (tls || tlsPeers) this.#tls.change(tls, tlsPeers)
    if (viaPortNetworks) this.#viaPort.change(viaPortNetworks)
    if (!tls && !tlsPeers) return
    for (const each of this.#streams()) each.reload()
  }

  /** Closes every transport. */
  async close(): Promise<void> {
    if (this.#closing) return
    this.#closing = true
    await Promise.all(this.#bound.map((each) => each.close()))
  }

  #streams(): StreamTransport[] {
    return this.#bound.filter((each) => each instanceof StreamTransport)
  }

  /** Those of a protocol. Browsers write `transport=ws` for both kinds of WebSockets (RFC 7118 5.2.2), so `ws` may be found in `wss`. */
  #of(protocol: Protocol): Bound[] {
    return this.#bound.filter(
      ({ local }) => local.protocol === protocol || (protocol === 'ws' && local.protocol === 'wss'),
    )
  }
}
