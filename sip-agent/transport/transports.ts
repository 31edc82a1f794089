import { isIPv6 } from 'node:net'
import type { Clock } from '../clock.ts'
import { Networks } from '../ip/networks.ts'
import { isLoopback } from '../ip/special-purpose.ts'
import type { MessageLimits } from '../message/limits.ts'
import type { HostPort } from '../message/uri.ts'
import { OwnAddresses } from './own-addresses.ts'
import { StreamTransport } from './stream.ts'
import { TlsSettings } from './tls.ts'
import type { TransportSettings } from './transport-settings.ts'
import type { ChosenBy, Endpoint, Flow, Gatekeeper, Hop, Protocol, TransportSink } from './types.ts'
import { defaultPort } from './types.ts'
import { UdpTransport } from './udp.ts'

type Bound = UdpTransport | StreamTransport

/** Collaborators and options of the transports. */
export interface TransportsDeps extends TransportSettings {
  readonly sink: TransportSink
  readonly limits: MessageLimits
  readonly clock: Clock
  /**
   * Maximum number of accepted connections of a listener; one address may have a quarter, and untrusted peers
   * three quarters.
   */
  readonly maxConnections: number
  /** Filter that is applied before parsing. */
  readonly gatekeeper: Gatekeeper
}

/** All bound transports. */
export class Transports {
  readonly #bound: Bound[] = []
  readonly #options: TransportsDeps
  readonly #own: OwnAddresses
  readonly #tls: TlsSettings
  readonly #viaPort: Networks
  #isClosing = false

  /** Throws if an entry of `announceTo` or `viaPortNetworks` is not a network. */
  constructor(options: TransportsDeps) {
    const { clock, announce, announceTo, tls, tlsPeers, viaPortNetworks } = options
    this.#viaPort = new Networks(viaPortNetworks)
    this.#options = options
    this.#own = new OwnAddresses(clock, announce, announceTo)
    this.#tls = new TlsSettings(tls, tlsPeers)
  }

  /** Binds a further address. Rejects with an error that names it. */
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

  /** Number of open connections to peers. */
  get connections(): number {
    return this.#streams().reduce((sum, each) => sum + each.connections, 0)
  }

  /** Returns whether an address is one of the agent's own, bound or announced. */
  isOwn(protocol: Protocol, host: string, port: number): boolean {
    return this.#own.isOwn(this.addresses, protocol, host, port)
  }

  /** Returns whether a transport of this protocol, and of this family if given, is bound. */
  reaches(protocol: Protocol, family?: 4 | 6): boolean {
    return this.#of(protocol).some(({ local }) => !family || isIPv6(local.address) === (family === 6))
  }

  /**
   * Returns the flow to a hop: an open connection, whichever side opened it, else a new one. Returns
   * undefined if no transport of that protocol and family is bound, and for a WebSocket that is not open.
   * `by` chose the hop.
   */
  flow(hop: Hop, by: ChosenBy): Flow | undefined {
    if (by === 'us') this.#options.gatekeeper.trustPeer?.(hop.address)
    return this.#find(hop) ?? this.#connect(hop, by === 'peer')
  }

  #fitting(hop: Hop): Bound[] {
    const six = isIPv6(hop.address)
    return this.#isClosing ? [] : this.#of(hop.protocol).filter((each) => isIPv6(each.local.address) === six)
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
    // A loopback socket cannot reach other machines, so it is tried last for other addresses, and first for
    // loopback addresses.
    const near = isLoopback(hop.address)
    const best = fitting.find((each) => isLoopback(each.local.address) === near) ?? fitting[0]
    return best instanceof UdpTransport ? best.flow(hop.address, hop.port) : best?.connect(hop, spare)
  }

  /**
   * Returns the flow for a response. It is that of its request or, if that is closed, a new one to the port
   * of the Via (RFC 3261 18.2.2). Returns undefined for a WebSocket client, which cannot be reached again.
   * The sender of a request chooses that port, so such a connection must not replace another one.
   */
  back(flow: Flow, via: HostPort): Flow | undefined {
    if (!flow.isClosed) return flow
    return flow.remote.protocol === 'udp' ? undefined : this.#again(flow.remote, via)
  }

  /** Returns the same flow as {@link back}, for a request of which only the remote address is known. */
  backTo(remote: Endpoint, via: HostPort): Flow | undefined {
    const hop = { ...remote, host: remote.address }
    if (remote.protocol === 'udp') return this.#connect(hop, true)
    return this.#find(hop) ?? this.#again(remote, via)
  }

  #again({ protocol, address }: Endpoint, via: HostPort): Flow | undefined {
    const hop = { protocol, address, port: via.port ?? defaultPort(protocol), host: via.host }
    return this.#find(hop) ?? this.#connect(hop, true)
  }

  /**
   * Returns the host at which a peer at `remote` should reach `local`. Without `remote`, returns the host for
   * peers in general.
   */
  ownHost(local: Endpoint, remote?: string): string {
    return this.#own.hostFor(local, remote)
  }

  /**
   * Applies new certificates to new connections, and new networks. Throws, and changes nothing, if one is
   * invalid.
   */
  change(change: Pick<TransportSettings, 'tls' | 'tlsPeers' | 'viaPortNetworks'>): void {
    const { tls, tlsPeers, viaPortNetworks } = change
    if (tls || tlsPeers) this.#tls.change(tls, tlsPeers)
    if (viaPortNetworks) this.#viaPort.change(viaPortNetworks)
    if (!tls && !tlsPeers) return
    for (const each of this.#streams()) each.reload()
  }

  /** Closes every transport. */
  async close(): Promise<void> {
    if (this.#isClosing) return
    this.#isClosing = true
    await Promise.all(this.#bound.map((each) => each.close()))
  }

  #streams(): StreamTransport[] {
    return this.#bound.filter((each) => each instanceof StreamTransport)
  }

  /**
   * Returns the transports of a protocol. Browsers write `transport=ws` for both kinds of WebSockets (RFC
   * 7118 5.2.2), so `ws` includes `wss`.
   */
  #of(protocol: Protocol): Bound[] {
    return this.#bound.filter(
      ({ local }) => local.protocol === protocol || (protocol === 'ws' && local.protocol === 'wss'),
    )
  }
}
