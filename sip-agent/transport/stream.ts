import { connect, createServer, isIP, isIPv6, type Server, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { WebSocket } from 'ws'
import type { Clock, Timer } from '../clock.ts'
import { plainAddress, senderOf } from '../ip/address.ts'
import { isLoopback } from '../ip/special-purpose.ts'
import type { MessageLimits } from '../message/limits.ts'
import { Connection, type ConnectionOwner } from './connection.ts'
import { Connections } from './connections.ts'
import { HandshakeStage } from './handshake-stage.ts'
import { StreamFramer } from './stream-framer.ts'
import type { TlsSettings } from './tls.ts'
import type { Endpoint, Flow, Gatekeeper, Hop, Protocol, TransportSink } from './types.ts'
import { WebSocketReader } from './websocket-reader.ts'
import { SocketWire, WebSocketWire } from './wire.ts'

/** Maximum time in ms for the TLS handshake and the WebSocket upgrade together. */
const handshakeTimeoutMs = 10_000
/**
 * Maximum time in ms for opening a connection: shorter than the timeout of the request on it (timers B and
 * F).
 */
const connectTimeoutMs = 10_000
/**
 * Maximum time in ms for opening a connection if UDP can be used instead; short, because the caller is
 * waiting.
 */
const tentativeTimeoutMs = 2_000
/** Interval in ms of pings on WebSockets; shorter than the usual idle timeout of proxies, a minute. */
const probeIntervalMs = 30_000
const maxHosts = 1_000

/** Collaborators of a connection-oriented listener. */
export interface StreamTransportDeps {
  readonly sink: TransportSink
  readonly gate: Gatekeeper
  readonly limits: MessageLimits
  readonly clock: Clock
  readonly tls: TlsSettings
  /**
   * Maximum number of accepted connections, and of connections that the agent opens. One address may hold a
   * quarter of the accepted ones, and untrusted peers three quarters.
   */
  readonly maxConnections: number
}

/** Listening socket of TCP, TLS, WS or WSS with its accepted and opened connections. */
export class StreamTransport {
  readonly #options: StreamTransportDeps
  readonly #server: Server
  readonly #entrance: HandshakeStage
  readonly #connections = new Connections()
  /** Number of accepted sockets by address (IPv6: by /64), until they are closed. */
  readonly #accepted = new Map<string, number>()
  readonly #sockets = new Set<Socket>()
  /**
   * Host names for which TLS connections were opened, by address and port. A Contact or Record-Route may hold
   * the bare address, which no certificate names.
   */
  readonly #hosts = new Map<string, string>()
  readonly #isWebSocket: boolean
  #probing: Timer | undefined
  #local: Endpoint

  constructor(protocol: Protocol, options: StreamTransportDeps) {
    this.#options = options
    this.#local = { protocol, address: '', port: 0 }
    this.#isWebSocket = protocol === 'ws' || protocol === 'wss'
    const { gate, limits, tls } = options
    this.#entrance = new HandshakeStage(protocol, tls, limits.messageBytes, () => gate.handshakeFailed?.())
    this.#server = createServer((socket) => this.#accept(socket))
  }

  /** The bound address. */
  get local(): Endpoint {
    return this.#local
  }

  /** Number of open connections, including those in a handshake. */
  get connections(): number {
    return this.#connections.made + this.#sockets.size
  }

  /** Binds and listens. Rejects with the system's error, or if TLS has no certificate. */
  async open(address: string, port: number): Promise<void> {
    this.#entrance.reload()
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      // `::` and `0.0.0.0` may both be bound to one port.
      this.#server.listen({ host: address, port, ipv6Only: isIPv6(address) }, () => {
        this.#server.off('error', reject)
        this.#server.on('error', () => {})
        const bound = this.#server.address()
        const { protocol } = this.#local
        this.#local = { protocol, address, port: typeof bound === 'object' && bound ? bound.port : port }
        resolve()
      })
    })
  }

  /** Applies the present TLS settings to new connections. Throws if they are invalid. */
  reload(): void {
    this.#entrance.reload()
  }

  /** Returns the open connection to a hop, whichever side opened it (RFC 3261 18, RFC 5923). */
  find(hop: Hop): Flow | undefined {
    return this.#connections.find(hop)
  }

  /**
   * Opens a connection to a hop. Returns undefined for WebSockets, which only clients open (RFC 7118 5). At
   * the maximum number of connections, the new one replaces the one that was unused for the longest time. A
   * `spare` connection replaces none, and is opened only while less than half of the maximum is in use.
   */
  connect(hop: Hop, spare = false): Flow | undefined {
    if (this.#isWebSocket) return undefined
    if (!this.#makeRoom(spare)) return undefined
    const secure = this.#local.protocol === 'tls'
    const { address, port } = hop
    const remote: Endpoint = { protocol: this.#local.protocol, address, port }
    const connection = this.#add(remote, false, [hop.host.toLowerCase()])
    const socket = secure ? this.#dialTls(hop, connection) : this.#dial(hop)
    if (!socket) return connection
    connection.begin(
      new SocketWire(socket, connection),
      hop.isTentative ? tentativeTimeoutMs : connectTimeoutMs,
    )
    socket.once(secure ? 'secureConnect' : 'connect', () => {
      if (secure && !isIP(hop.host)) this.#remember(hop)
      connection.opened()
    })
    return connection
  }

  /** Closes the listener and every connection. */
  close(): Promise<void> {
    for (const connection of this.#connections) connection.fail('the agent is closing')
    for (const socket of this.#sockets) socket.destroy()
    return new Promise((resolve) => this.#server.close(() => resolve()))
  }

  #makeRoom(spare: boolean): boolean {
    const { maxConnections } = this.#options
    const made = this.#connections.made - this.#connections.leavingMade
    if (spare && made >= maxConnections / 2) return false
    const oldest = made >= maxConnections ? this.#connections.oldestMade() : undefined
    if (oldest) this.#connections.giveUp(oldest, 'too many connections')
    return true
  }

  #dial({ address, port }: Hop): Socket {
    return connect({ host: address, port, ...this.#from() })
  }

  #dialTls(hop: Hop, connection: Connection): Socket | undefined {
    const { address, port } = hop
    const host = isIP(hop.host) ? (this.#hosts.get(`${address}|${port}`) ?? hop.host) : hop.host
    try {
      return connectTls({ host: address, port, ...this.#from(), ...this.#options.tls.client(host) })
    } catch (error) {
      connection.ended((error as Error).message)
      return undefined
    }
  }

  /**
   * Returns the local address for connections that the agent opens: the bound one, because carriers may
   * identify the gateway by it.
   */
  #from(): { localAddress?: string } {
    const { address } = this.#local
    return address === '0.0.0.0' || address === '::' || isLoopback(address) ? {} : { localAddress: address }
  }

  #remember({ address, port, host }: Hop): void {
    const key = `${address}|${port}`
    this.#hosts.delete(key)
    for (const oldest of this.#hosts.keys()) {
      if (this.#hosts.size < maxHosts) break
      this.#hosts.delete(oldest)
    }
    this.#hosts.set(key, host)
  }

  #accept(socket: Socket): void {
    socket.on('error', () => {})
    const { remoteAddress, remotePort: port } = socket
    const address = remoteAddress && plainAddress(remoteAddress)
    const { clock } = this.#options
    if (!address || !port || !this.#admits(address)) {
      socket.destroy()
      return
    }
    this.#count(socket, address)
    const limit = clock.after(handshakeTimeoutMs, () => socket.destroy())
    socket.once('close', () => limit.cancel())
    this.#entrance.accept(socket, (way, names) => {
      limit.cancel()
      this.#arrived(way, { protocol: this.#local.protocol, address, port }, names)
    })
  }

  /**
   * Decides whether to admit a new connection. One source may hold a quarter of the connections, and
   * untrusted peers three quarters; the rest is reserved for carriers. If none is left, the new connection
   * replaces an untrusted one that was never served, the one that was silent for the longest time.
   */
  #admits(address: string): boolean {
    const { maxConnections, gate } = this.#options
    const trusts = (each: string) => gate.isTrusted?.(each) ?? true
    if ((this.#accepted.get(senderOf(address)) ?? 0) >= Math.ceil(maxConnections / 4)) return false
    const most = trusts(address) ? maxConnections : maxConnections * 0.75
    const isFull = this.#sockets.size - this.#connections.leavingAccepted >= most
    // The gate comes before the search through all connections: a banned or rate-limited source must not
    // cause that work.
    if (!gate.accepts(this.#local.protocol, address)) return false
    if (!isFull) return true
    const idlest = this.#connections.idlest(({ remote }) => !trusts(remote.address))
    if (idlest) this.#connections.giveUp(idlest, 'replaced by a new connection')
    return idlest !== undefined
  }

  #count(socket: Socket, address: string): void {
    const sender = senderOf(address)
    this.#sockets.add(socket)
    this.#accepted.set(sender, (this.#accepted.get(sender) ?? 0) + 1)
    socket.once('close', () => {
      this.#sockets.delete(socket)
      const left = (this.#accepted.get(sender) ?? 1) - 1
      if (left > 0) this.#accepted.set(sender, left)
      else this.#accepted.delete(sender)
    })
  }

  #arrived(way: Socket | WebSocket, remote: Endpoint, names: readonly string[]): void {
    const connection = this.#add(remote, true, names)
    const wire = 'ping' in way ? new WebSocketWire(way, connection) : new SocketWire(way, connection)
    connection.begin(wire, handshakeTimeoutMs)
    connection.opened()
    if (this.#isWebSocket) this.#probing ??= this.#options.clock.after(probeIntervalMs, () => this.#probe())
  }

  /** Closes the connections of WebSocket clients that disappeared without closing them (RFC 7118 6). */
  #probe(): void {
    this.#probing = this.#options.clock.after(probeIntervalMs, () => this.#probe())
    for (const connection of this.#connections) connection.probe()
  }

  #add(remote: Endpoint, accepted: boolean, names: readonly string[]): Connection {
    const { limits, sink, gate, clock } = this.#options
    const owner: ConnectionOwner = {
      local: this.#local,
      sink,
      gate,
      clock,
      alias: (from, port) => {
        if (this.#local.protocol === 'tls' && from.isAccepted && from.names.length > 0)
          this.#connections.alias(from, port)
      },
      gone: (lost) => this.#gone(lost),
    }
    const reader = this.#isWebSocket ? new WebSocketReader(limits) : new StreamFramer(limits)
    const connection = new Connection({ remote, isAccepted: accepted, names }, owner, reader)
    this.#connections.add(connection)
    return connection
  }

  #gone(connection: Connection): void {
    this.#connections.remove(connection)
    if (this.#connections.size > 0) return
    this.#probing?.cancel()
    this.#probing = undefined
  }
}
