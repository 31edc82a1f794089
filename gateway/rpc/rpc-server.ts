import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { senderOf } from '@trunkline/sip-agent/networks'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Clock } from '../core/clock.ts'
import { type Code, catalogue } from '../core/errors/catalogue.ts'
import type { Log } from '../core/log.ts'
import type { Metrics } from '../core/metrics.ts'
import type { Origins } from '../core/web/origins.ts'
import { pathOf } from '../core/web/request-path.ts'
import { TrustedProxies } from '../core/web/trusted-proxies.ts'
import { OpenSockets, type SocketLimits, type SocketRejection } from './open-sockets.ts'
import { defaultRpcLimits, type RpcLimits } from './rpc-limits.ts'
import { closeCodes, type RpcHandler, RpcSession } from './rpc-session.ts'

/** Collaborators of {@link RpcServer}. */
export interface RpcServerDeps {
  readonly origins: Origins
  /** Proxies whose `X-Forwarded-For` is trusted; default none. */
  readonly proxies?: Pick<TrustedProxies, 'sourceOf'>
  /** Creates the handler of a new session. */
  readonly open: (session: RpcSession, from: SessionSource) => RpcHandler
  readonly metrics: Pick<Metrics, 'rpcRequests' | 'rejections'>
  readonly clock: Clock
  readonly log: Log
}

/** Settings of {@link RpcServer}, which can change while it runs. */
export interface RpcServerSettings {
  /** Limits of sessions; default {@link defaultRpcLimits}. */
  readonly limits: Partial<RpcLimits>
  /** Limits of connections; default {@link defaultSocketLimits}. */
  readonly sockets: Partial<SocketLimits>
  /** Maximum size of a frame in bytes; default 256 KiB. */
  readonly maxFrame: number
  /** Maximum number of bytes that a connection may send before it signs in; default 64 KiB. */
  readonly maxBeforeSignIn: number
}

/** Default limits of connections. */
export const defaultSocketLimits: SocketLimits = {
  connections: 10_000,
  waiting: 2_000,
  waitingPerAddress: 500,
  perAddress: 1_000,
  perAddressMinute: 20_000,
}

/** Origin of a session, for logs. */
export interface SessionSource {
  readonly address: string
  readonly agent: string
}

const defaults: RpcServerSettings = {
  limits: {},
  sockets: {},
  maxFrame: 256 << 10,
  maxBeforeSignIn: 64 << 10,
}
/** Paths that accept WebSockets. */
const paths: ReadonlySet<string> = new Set(['/', '/ws'])

const webSocketsOf = (maxPayload: number): WebSocketServer =>
  new WebSocketServer({ noServer: true, maxPayload, perMessageDeflate: false, clientTracking: false })

/** Accepts WebSockets on HTTP servers and opens a JSON-RPC session on each. */
export class RpcServer {
  readonly #deps: RpcServerDeps
  readonly #proxies: Pick<TrustedProxies, 'sourceOf'>
  #settings: RpcServerSettings
  #webSockets: WebSocketServer
  readonly #sessions = new Set<RpcSession>()
  readonly #open: OpenSockets
  readonly #attached: { readonly server: Server; readonly listener: UpgradeListener }[] = []
  #isClosed = false

  constructor(deps: RpcServerDeps, settings: Partial<RpcServerSettings> = {}) {
    this.#deps = deps
    this.#proxies = deps.proxies ?? new TrustedProxies([])
    this.#settings = { ...defaults, ...settings }
    this.#open = new OpenSockets(deps.clock, { ...defaultSocketLimits, ...settings.sockets })
    this.#webSockets = webSocketsOf(this.#settings.maxFrame)
  }

  /** Changes the settings; open connections keep theirs. */
  change(settings: RpcServerSettings): void {
    this.#settings = settings
    this.#open.change({ ...defaultSocketLimits, ...settings.sockets })
    // The former server has no listener and no connections of its own.
    this.#webSockets = webSocketsOf(settings.maxFrame)
  }

  /** Number of open connections. */
  get sockets(): number {
    return this.#sessions.size
  }

  /** Number of networks with open connections. */
  get networks(): number {
    return this.#open.networks
  }

  /** Number of connections that have not signed in. */
  get waiting(): number {
    return this.#open.waiting
  }

  /**
   * Handles the upgrade requests of an HTTP server. `onUpgrade` receives each connection, which is counted
   * here from then on.
   */
  attach(server: Server, onUpgrade: (socket: Duplex) => void = () => {}): void {
    const listener: UpgradeListener = (request, socket, head) => {
      onUpgrade(socket)
      this.#upgrade(request, socket, head)
    }
    server.on('upgrade', listener)
    this.#attached.push({ server, listener })
  }

  /** Closes every session with code 1001 and accepts no more; idempotent. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    for (const { server, listener } of this.#attached.splice(0)) server.off('upgrade', listener)
    for (const session of [...this.#sessions])
      session.close(closeCodes.goingAway, 'the gateway is shutting down')
    this.#webSockets.close()
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const address = this.#proxies.sourceOf(request)
    const network = senderOf(address)
    const refusal = this.#refusal(request, network)
    if (refusal) this.#refuse(request, socket, { ...refusal, source: address })
    else
      this.#webSockets.handleUpgrade(request, socket, head, (webSocket) => {
        this.#opened(webSocket, socket, network, { address, agent: request.headers['user-agent'] ?? '' })
      })
  }

  #opened(webSocket: WebSocket, socket: Duplex, network: string, source: SessionSource): void {
    const { clock, log, metrics } = this.#deps
    const { limits, maxBeforeSignIn } = this.#settings
    const counted = this.#open.add(network)
    const preSignIn = new UnauthenticatedLimit(socket, maxBeforeSignIn)
    const session = new RpcSession(webSocket, {
      clock,
      log,
      metrics,
      limits: { ...defaultRpcLimits, ...limits },
      network,
      onSignIn: () => {
        preSignIn.stop()
        counted.signedIn()
      },
    })
    preSignIn.onExceeded = () => session.close(closeCodes.tooBig, 'too much data before sign-in')
    this.#sessions.add(session)
    webSocket.on('close', () => {
      this.#sessions.delete(session)
      counted.closed()
    })
    log.debug({ session: session.id, ...source }, 'WebSocket opened')
    session.serve(this.#deps.open(session, source))
  }

  #refuse(request: IncomingMessage, socket: Duplex, refusal: Refusal & { readonly source: string }): void {
    const { log, metrics } = this.#deps
    const { code } = refusal
    const { http, text } = code ? catalogue[code] : { http: 404, text: 'WebSocket rejected' }
    if (code) metrics.rejections.inc({ code })
    log.warn(
      {
        event: 'rpc.socket-rejected',
        ...refusal,
        path: pathOf(request.url ?? ''),
        origin: request.headers.origin,
      },
      text,
    )
    socket.on('error', () => socket.destroy())
    // An upgraded socket stays open until the client closes it too, and this one is in no count.
    socket.once('finish', () => socket.destroy())
    // Browsers retry by themselves.
    const retryAfter = code === 'too_many_requests' ? 'Retry-After: 60\r\n' : ''
    const status = `${http} ${STATUS_CODES[http]}`
    socket.end(`HTTP/1.1 ${status}\r\n${retryAfter}Connection: close\r\nContent-Length: 0\r\n\r\n`)
  }

  #refusal(request: IncomingMessage, network: string): Refusal | undefined {
    if (!paths.has(pathOf(request.url ?? ''))) return {}
    const { origin, host } = request.headers
    if (!this.#deps.origins.allows(origin, host)) return { code: 'origin_refused' }
    const refusal = this.#open.refusal(network)
    return refusal && { ...refusal, network }
  }
}

/** Facts of a rejected upgrade, for the log. Without a code, the path does not exist. */
interface Refusal extends Partial<Omit<SocketRejection, 'code'>> {
  readonly code?: Code
  readonly network?: string
}

/**
 * Limits the bytes that arrive on a connection before its sign-in. Frames of signed-in clients may be four
 * times as long, so unauthenticated clients cannot fill the memory with them.
 */
class UnauthenticatedLimit {
  readonly #socket: Duplex
  readonly #listener: (chunk: Buffer) => void
  onExceeded: () => void = () => {}

  constructor(socket: Duplex, maxBytes: number) {
    this.#socket = socket
    let received = 0
    this.#listener = (chunk) => {
      received += chunk.length
      if (received <= maxBytes) return
      this.stop()
      this.onExceeded()
    }
    socket.on('data', this.#listener)
  }

  /** Stops counting after the sign-in. */
  stop(): void {
    this.#socket.off('data', this.#listener)
  }
}

type UpgradeListener = (request: IncomingMessage, socket: Duplex, head: Buffer) => void
