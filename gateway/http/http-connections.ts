import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { Networks, senderOf } from '@trunkline/sip-agent/networks'
import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { Metrics } from '../core/metrics.ts'

/** Limits of the connections of one listener. */
export interface ConnectionLimits {
  /** Maximum number of connections, WebSockets not counted. */
  readonly maxConnections: number
  /** Maximum number of connections of one network address that wait without a request. */
  readonly maxConnectionsPerAddress: number
  /** Networks of proxies, whose connections count only towards {@link maxConnections}. */
  readonly trustedProxies: readonly string[]
}

/** Collaborators of {@link Connections}. */
export interface ConnectionsDeps {
  readonly clock: Pick<Clock, 'now'>
  readonly log: Pick<Log, 'warn'>
  readonly metrics: Pick<Metrics, 'httpConnectionsDropped'>
}

/** Request, with the flag whether all of it has arrived. */
interface Arriving {
  readonly complete: boolean
}

interface Connection {
  readonly socket: Pick<Socket, 'destroy'>
  readonly address: string
  readonly isProxy: boolean
  readonly since: number
  /** The request that is being answered; undefined between requests. */
  request: Arriving | undefined
  /** Time since which at least one response has been due without interruption. */
  busySince: number
}

/**
 * Reason for closing a connection: the listener is full, the address has used up its share, or a newer
 * connection takes the place.
 */
type Reason = 'full' | 'address' | 'replaced'

/** Time in ms that a new connection has for its first request before a newer connection may replace it. */
const graceMs = 1_000
/**
 * Time in ms for which a connection with unsent responses keeps its place in a full listener. Without the
 * limit, a client that does not read its responses would keep the place for ever.
 */
const maxBusyMs = 30_000
/** Minimum time in ms between two log lines about closed connections. */
const logEveryMs = 10_000

/**
 * Limits the connections of one HTTP listener. When the listener or the share of an address is full, a new
 * connection replaces one that waits without a complete request. If all are busy and the listener is full,
 * the new connection replaces one that has been busy for half a minute. One address holds at most a quarter
 * of the listener. WebSockets are not counted here; separate limits apply to them.
 */
export class Connections {
  readonly #name: string
  #limits: ConnectionLimits
  #proxies: Networks
  readonly #deps: ConnectionsDeps
  /** Open connections in the order of arrival, by the addresses of both ends. */
  readonly #open = new Map<string, Connection>()
  readonly #byAddress = new Map<string, Set<string>>()
  #closed = 0
  #loggedAt = Number.NEGATIVE_INFINITY

  /** `name`: name of the listener, for the metric and the log. */
  constructor(name: string, limits: ConnectionLimits, deps: ConnectionsDeps) {
    this.#name = name
    this.#limits = limits
    this.#proxies = new Networks(limits.trustedProxies)
    this.#deps = deps
  }

  /** Applies other limits. Open connections stay. */
  change(limits: ConnectionLimits): void {
    this.#limits = limits
    this.#proxies = new Networks(limits.trustedProxies)
  }

  /** Number of open connections, without WebSockets. */
  get size(): number {
    return this.#open.size
  }

  /** Number of network addresses that have connections. */
  get addresses(): number {
    return this.#byAddress.size
  }

  /** Watches a server; must be called before it listens. */
  watch(server: Server): void {
    server.on('connection', (socket: Socket) => this.add(socket))
    server.on('request', (request, response) => {
      const connection = this.#open.get(keyOf(request.socket))
      if (!connection) return
      if (!connection.request) connection.busySince = this.#deps.clock.now()
      connection.request = request
      response.once('close', () => {
        if (connection.request === request) connection.request = undefined
      })
    })
  }

  /** Counts a new connection until it closes, or closes it at once if the listener has no room. */
  add(socket: Socket): void {
    const key = keyOf(socket)
    const address = senderOf(socket.remoteAddress ?? '')
    const isProxy = this.#proxies.has(socket.remoteAddress ?? '')
    const refused = this.#makeRoom(address, isProxy)
    if (refused) {
      this.#close(socket, address, refused)
      return
    }
    const since = this.#deps.clock.now()
    this.#open.set(key, { socket, address, isProxy, since, request: undefined, busySince: since })
    const ofAddress = this.#byAddress.get(address) ?? new Set()
    this.#byAddress.set(address, ofAddress.add(key))
    socket.once('close', () => this.#remove(key))
  }

  /** Stops counting a connection that has become a WebSocket. */
  release(socket: Duplex): void {
    this.#remove(keyOf(socket as Socket))
  }

  /** Returns the reason to reject a connection of an address; undefined if there is room. */
  #makeRoom(address: string, isProxy: boolean): Reason | undefined {
    const { maxConnections, maxConnectionsPerAddress } = this.#limits
    if (!isProxy) {
      const keys = this.#byAddress.get(address) ?? new Set()
      if (keys.size >= maxConnectionsPerAddress) {
        const share = Math.max(maxConnectionsPerAddress, Math.floor(maxConnections / 4))
        const isFull = keys.size >= share
        if (!this.#replaceOneOf(keys, isFull) && isFull) return 'address'
      }
    }
    if (this.#open.size >= maxConnections && !this.#replaceOneOf(this.#open.keys(), true)) return 'full'
    return undefined
  }

  /**
   * Closes the oldest of these connections that waits without a complete request. If none waits and
   * `isFull`, closes one that has been busy too long. Returns false if no connection was closed.
   */
  #replaceOneOf(keys: Iterable<string>, isFull: boolean): boolean {
    const now = this.#deps.clock.now()
    let slow: string | undefined
    for (const key of keys) {
      const connection = this.#open.get(key)
      if (!connection || connection.isProxy) continue
      if (connection.since > now - graceMs) break
      if (!connection.request?.complete) return this.#replace(key)
      if (isFull && connection.busySince <= now - maxBusyMs) slow ??= key
    }
    return slow !== undefined && this.#replace(slow)
  }

  #replace(key: string): boolean {
    const connection = this.#open.get(key)
    if (!connection) return false
    this.#remove(key)
    this.#close(connection.socket, connection.address, 'replaced')
    return true
  }

  #remove(key: string): void {
    const connection = this.#open.get(key)
    if (!connection) return
    this.#open.delete(key)
    const ofAddress = this.#byAddress.get(connection.address)
    ofAddress?.delete(key)
    if (ofAddress?.size === 0) this.#byAddress.delete(connection.address)
  }

  #close(socket: Pick<Socket, 'destroy'>, source: string, reason: Reason): void {
    socket.destroy()
    this.#deps.metrics.httpConnectionsDropped.inc({ listener: this.#name, reason })
    this.#closed++
    const now = this.#deps.clock.now()
    if (now - this.#loggedAt < logEveryMs) return
    this.#loggedAt = now
    const counts = { dropped: this.#closed, open: this.#open.size }
    this.#deps.log.warn(
      { event: 'http.connections-dropped', listener: this.#name, reason, source, ...counts },
      'HTTP connections dropped',
    )
    this.#closed = 0
  }
}

/** Returns a key from the addresses of both ends, which are equal for a TLS socket and its TCP socket. */
const keyOf = ({ localAddress, localPort, remoteAddress, remotePort }: Socket): string =>
  `${localAddress} ${localPort} ${remoteAddress} ${remotePort}`
