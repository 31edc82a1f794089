import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { senderOf } from '@trunkline/sip-agent/networks'
import { WebSocketServer } from 'ws'
import { type Code, catalogue } from '../core/errors/catalogue.ts'
import type { Origins } from '../core/web/origins.ts'
import { type SourceOf, sourceFinder } from '../core/web/proxies.ts'
import { pathOf } from '../core/web/request-path.ts'
import { OpenSockets, type SocketLimits, type SocketRejection } from './open-sockets.ts'
import { defaultRpcLimits, type RpcLimits } from './rpc-limits.ts'
import { closeCodes, type RpcHandler, RpcSession, type RpcSessionDeps } from './rpc-session.ts'

/** What the server works with. */
export interface RpcServerDeps extends Omit<RpcSessionDeps, 'limits' | 'network' | 'onSignIn'> {
  readonly origins: Origins
  /** Networks of proxies that are believed where a connection comes from; default none. */
  readonly trustedProxies?: readonly string[]
  /** Makes the vocabulary of a new session. */
  readonly open: (session: RpcSession, from: SessionSource) => RpcHandler
  readonly limits?: Partial<RpcLimits>
  /** Where WebSockets may be opened; default `/` and `/ws`. */
  readonly paths?: readonly string[]
  /** Connections; default those of the configuration. */
  readonly sockets?: Partial<SocketLimits>
  /** Longest frame in bytes; default 256 KiB. */
  readonly maxFrame?: number
  /** All that a connection may send before it has signed in, in bytes; default 64 KiB. */
  readonly maxBeforeSignIn?: number
}

/** The limits where nothing else is said. */
export const defaultSocketLimits: SocketLimits = {
  connections: 10_000,
  waiting: 2_000,
  waitingPerAddress: 500,
  perAddress: 1_000,
  perAddressMinute: 20_000,
}

/** Where a session comes from, for logs. */
export interface SessionSource {
  readonly address: string
  readonly agent: string
}

/** Settings of the server that can change while it runs. */
export type RpcServerChange = {
  readonly sockets: SocketLimits
} & Required<Pick<RpcServerDeps, 'limits' | 'maxFrame' | 'maxBeforeSignIn' | 'trustedProxies'>>

const webSocketsOf = (maxPayload: number): WebSocketServer =>
  new WebSocketServer({ noServer: true, maxPayload, perMessageDeflate: false, clientTracking: false })

/** Opens WebSockets on HTTP servers and gives each its JSON-RPC session. */
export class RpcServer {
  #deps: RpcServerDeps
  #paths: ReadonlySet<string>
  #webSockets: WebSocketServer
  #sessions = new Set<RpcSession>()
  #open: OpenSockets
  #sourceOf: SourceOf
  #attached: { readonly server: Server; readonly listener: UpgradeListener }[] = []
  #closed = false

  constructor(deps: RpcServerDeps) {
    this.#deps = deps
    this.#paths = new Set(deps.paths ?? ['/', '/ws'])
    this.#sourceOf = sourceFinder(deps.trustedProxies ?? [])
    this.#open = new OpenSockets(deps.clock, { ...defaultSocketLimits, ...deps.sockets })
    this.#webSockets = webSocketsOf(deps.maxFrame ?? 256 << 10)
  }

  /** Works by these settings from now on; connections that are open keep theirs. */
  change({ sockets, limits, maxFrame, maxBeforeSignIn, trustedProxies }: RpcServerChange): void {
    this.#deps = { ...this.#deps, limits, maxBeforeSignIn }
    this.#open.change(sockets)
    this.#sourceOf = sourceFinder(trustedProxies)
    // It has no listener and no connections of its own.
    this.#webSockets = webSocketsOf(maxFrame)
  }

  /** Connections open. */
  get sockets(): number {
    return this.#sessions.size
  }

  /** Networks that have connections open. */
  get networks(): number {
    return this.#open.networks
  }

  /** Connections that have not signed in. */
  get waiting(): number {
    return this.#open.waiting
  }

  /**
   * Serves the upgrades of this HTTP server. `taken` is called with each connection, which is counted here
   * from then on.
   */
  attach(server: Server, taken: (socket: Duplex) => void = () => {}): void {
    const listener: UpgradeListener = (request, socket, head) => {
      taken(socket)
      this.#upgrade(request, socket, head)
    }
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
    const network = senderOf(address)
    const refusal = this.#refusal(request, network)
    if (refusal) {
      this.#refuse(request, socket, { ...refusal, source: address })
      return
    }
    this.#webSockets.handleUpgrade(request, socket, head, (webSocket) => {
      const { clock, log, metrics } = this.#deps
      const limits = { ...defaultRpcLimits, ...this.#deps.limits }
      const counted = this.#open.add(network)
      const stranger = new UnauthenticatedLimit(socket, this.#deps.maxBeforeSignIn ?? 64 << 10)
      const onSignIn = () => {
        stranger.known()
        counted.signedIn()
      }
      const session = new RpcSession(webSocket, { clock, log, metrics, limits, network, onSignIn })
      stranger.tooMuch = () => session.close(closeCodes.tooBig, 'too much before anybody signed in')
      this.#sessions.add(session)
      webSocket.on('close', () => {
        this.#sessions.delete(session)
        counted.closed()
      })
      const source = { address, agent: request.headers['user-agent'] ?? '' }
      log.debug({ session: session.id, ...source }, 'WebSocket opened')
      session.serve(this.#deps.open(session, source))
    })
  }

  #refuse(request: IncomingMessage, socket: Duplex, refusal: Refusal & { readonly source: string }): void {
    const { log, metrics } = this.#deps
    const { code } = refusal
    const { http, text } = code ? catalogue[code] : { http: 404, text: 'WebSocket refused' }
    if (code) metrics.rejections.inc({ code })
    log.warn({ ...refusal, path: pathOf(request.url ?? ''), origin: request.headers.origin }, text)
    socket.on('error', () => socket.destroy())
    // Sockets of HTTP servers stay open until the far end hangs up too, and nobody counts this one.
    socket.once('finish', () => socket.destroy())
    // Whoever comes over a limit of a minute has its rest to wait; pages try again by themselves.
    const later = code === 'too_many_requests' ? 'Retry-After: 60\r\n' : ''
    const status = `${http} ${STATUS_CODES[http]}`
    socket.end(`HTTP/1.1 ${status}\r\n${later}Connection: close\r\nContent-Length: 0\r\n\r\n`)
  }

  #refusal(request: IncomingMessage, network: string): Refusal | undefined {
    if (!this.#paths.has(pathOf(request.url ?? ''))) return {}
    const { origin, host } = request.headers
    if (!this.#deps.origins.allows(origin, host)) return { code: 'origin_refused' }
    const refusal = this.#open.refusal(network)
    return refusal && { ...refusal, network }
  }
}

/** Why an upgrade is refused, as the log tells it; without a code, there is nothing at this path. */
interface Refusal extends Partial<Omit<SocketRejection, 'code'>> {
  readonly code?: Code
  readonly network?: string
}

/**
 * Counts what comes over a connection until somebody has signed in: the longest frame of those who have is
 * four times as long, and nobody unknown is to fill the memory with it.
 */
class UnauthenticatedLimit {
  readonly #socket: Duplex
  readonly #listener: (chunk: Buffer) => void
  tooMuch: () => void = () => {}

  constructor(socket: Duplex, most: number) {
    this.#socket = socket
    let received = 0
    this.#listener = (chunk) => {
      received += chunk.length
      if (received <= most) return
      this.known()
      this.tooMuch()
    }
    socket.on('data', this.#listener)
  }

  /** Whoever it is has signed in. */
  known(): void {
    this.#socket.off('data', this.#listener)
  }
}

type UpgradeListener = (request: IncomingMessage, socket: Duplex, head: Buffer) => void
