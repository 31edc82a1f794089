import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { networkKey } from '../http/attempts.ts'
import { pathOf } from '../http/errors.ts'
import type { Origins } from '../http/origins.ts'
import { type SourceOf, sourceFinder } from '../http/proxies.ts'
import {
  closeCodes,
  defaultRpcLimits,
  type RpcHandler,
  type RpcLimits,
  RpcSession,
  type RpcSessionParts,
} from './session.ts'

/** What the server works with. */
export interface RpcServerParts extends Omit<RpcSessionParts, 'limits'> {
  readonly origins: Origins
  /** Networks of proxies that are believed where a connection comes from; default none. */
  readonly trustedProxies?: readonly string[]
  /** Makes the vocabulary of a new session. */
  readonly open: (session: RpcSession, from: SessionSource) => RpcHandler
  readonly limits?: Partial<RpcLimits>
  /** Where WebSockets may be opened; default `/` and `/ws`. */
  readonly paths?: readonly string[]
  /** Connections at once; default 10,000. */
  readonly maxSockets?: number
  /** Connections at once of one network (an IPv4 address, the /64 of an IPv6 one); default 200. */
  readonly maxSocketsPerNetwork?: number
  /** Longest frame in octets; default 256 KiB. */
  readonly maxFrame?: number
}

/** Where a session comes from, for logs. */
export interface SessionSource {
  readonly address: string
  readonly agent: string
}

/** Opens WebSockets on HTTP servers and gives each its JSON-RPC session. */
export class RpcServer {
  #parts: RpcServerParts
  #paths: ReadonlySet<string>
  #webSockets: WebSocketServer
  #sessions = new Set<RpcSession>()
  /** Connections of each network that has any. */
  #perNetwork = new Map<string, number>()
  #sourceOf: SourceOf
  #attached: { readonly server: Server; readonly listener: UpgradeListener }[] = []
  #closed = false

  constructor(parts: RpcServerParts) {
    this.#parts = parts
    this.#paths = new Set(parts.paths ?? ['/', '/ws'])
    this.#sourceOf = sourceFinder(parts.trustedProxies ?? [])
    this.#webSockets = new WebSocketServer({
      noServer: true,
      maxPayload: parts.maxFrame ?? 256 << 10,
      perMessageDeflate: false,
      clientTracking: false,
    })
  }

  /** Connections open. */
  get sockets(): number {
    return this.#sessions.size
  }

  /** Networks that have connections open. */
  get networks(): number {
    return this.#perNetwork.size
  }

  /** Serves the upgrades of this HTTP server. */
  attach(server: Server): void {
    const listener: UpgradeListener = (request, socket, head) => this.#upgrade(request, socket, head)
    server.on('upgrade', listener)
    this.#attached.push({ server, listener })
  }

  /** Closes every session with 1001 and takes no more; idempotent. */
  close(): void {
    if (this.#closed) return
    this.#closed = true
    for (const { server, listener } of this.#attached.splice(0)) server.off('upgrade', listener)
    for (const session of [...this.#sessions])
      session.close(closeCodes.goingAway, 'the gateway is shutting down')
    this.#webSockets.close()
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const address = this.#sourceOf(request)
    const network = networkKey(address)
    const refusal = this.#refusal(request, network)
    if (refusal) {
      const facts = { ...refusal, path: pathOf(request.url ?? ''), origin: request.headers.origin }
      this.#parts.log.warn({ ...facts, source: address }, 'WebSocket refused')
      socket.on('error', () => socket.destroy())
      socket.end(`HTTP/1.1 ${refusal.status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
      return
    }
    this.#webSockets.handleUpgrade(request, socket, head, (webSocket) => {
      const { clock, log, metrics } = this.#parts
      const limits = { ...defaultRpcLimits, ...this.#parts.limits }
      const session = new RpcSession(webSocket, { clock, log, metrics, limits })
      this.#count(webSocket, session, network)
      const source = { address, agent: request.headers['user-agent'] ?? '' }
      log.debug({ session: session.id, ...source }, 'WebSocket opened')
      session.serve(this.#parts.open(session, source))
    })
  }

  #count(webSocket: WebSocket, session: RpcSession, network: string): void {
    this.#sessions.add(session)
    this.#perNetwork.set(network, this.#openFrom(network) + 1)
    webSocket.on('close', () => {
      this.#sessions.delete(session)
      const left = this.#openFrom(network) - 1
      if (left > 0) this.#perNetwork.set(network, left)
      else this.#perNetwork.delete(network)
    })
  }

  #openFrom(network: string): number {
    return this.#perNetwork.get(network) ?? 0
  }

  #refusal(request: IncomingMessage, network: string): Refusal | undefined {
    const { origins, maxSockets = 10_000, maxSocketsPerNetwork = 200 } = this.#parts
    if (!this.#paths.has(pathOf(request.url ?? ''))) return { status: '404 Not Found' }
    if (!origins.allows(request.headers.origin, request.headers.host)) return { status: '403 Forbidden' }
    const status = '503 Service Unavailable'
    if (this.#sessions.size >= maxSockets) return { status, limit: maxSockets }
    if (this.#openFrom(network) >= maxSocketsPerNetwork)
      return { status, limit: maxSocketsPerNetwork, network }
    return undefined
  }
}

/** How an upgrade is refused, and what the log tells of it. */
interface Refusal {
  /** Status line. */
  readonly status: string
  /** The limit that is reached; of this network, where one is named. */
  readonly limit?: number
  readonly network?: string
}

type UpgradeListener = (request: IncomingMessage, socket: Duplex, head: Buffer) => void
