import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import { pathOf } from '../http/errors.ts'
import type { Origins } from '../http/origins.ts'
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
  /** Makes the vocabulary of a new session. */
  readonly open: (session: RpcSession, from: SessionSource) => RpcHandler
  readonly limits?: Partial<RpcLimits>
  /** Where WebSockets may be opened; default `/` and `/ws`. */
  readonly paths?: readonly string[]
  /** Connections at once; default 10,000. */
  readonly maxSockets?: number
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
  #attached: { readonly server: Server; readonly listener: UpgradeListener }[] = []
  #closed = false

  constructor(parts: RpcServerParts) {
    this.#parts = parts
    this.#paths = new Set(parts.paths ?? ['/', '/ws'])
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
    const refusal = this.#refusal(request)
    if (refusal) {
      const facts = { status: refusal, path: pathOf(request.url ?? ''), origin: request.headers.origin }
      this.#parts.log.warn({ ...facts, source: request.socket.remoteAddress }, 'WebSocket refused')
      socket.on('error', () => socket.destroy())
      socket.end(`HTTP/1.1 ${refusal}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
      return
    }
    this.#webSockets.handleUpgrade(request, socket, head, (webSocket) => {
      const { clock, log, metrics } = this.#parts
      const limits = { ...defaultRpcLimits, ...this.#parts.limits }
      const session = new RpcSession(webSocket, { clock, log, metrics, limits })
      this.#sessions.add(session)
      webSocket.on('close', () => this.#sessions.delete(session))
      const source = {
        address: request.socket.remoteAddress ?? '',
        agent: request.headers['user-agent'] ?? '',
      }
      log.debug({ session: session.id, ...source }, 'WebSocket opened')
      session.serve(this.#parts.open(session, source))
    })
  }

  /** Status line with which an upgrade is refused. */
  #refusal(request: IncomingMessage): string | undefined {
    if (!this.#paths.has(pathOf(request.url ?? ''))) return '404 Not Found'
    if (!this.#parts.origins.allows(request.headers.origin, request.headers.host)) return '403 Forbidden'
    if (this.#sessions.size >= (this.#parts.maxSockets ?? 10_000)) return '503 Service Unavailable'
    return undefined
  }
}

type UpgradeListener = (request: IncomingMessage, socket: Duplex, head: Buffer) => void
