import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { senderOf } from '@trunkline/sip-agent/networks'
import { WebSocketServer } from 'ws'
import { type Code, catalogue } from '../core/errors/catalogue.ts'
import type { Origins } from '../core/web/origins.ts'
import { pathOf } from '../core/web/request-path.ts'
import { type SourceOf, sourceFinder } from '../core/web/trusted-proxies.ts'
import { OpenSockets, type SocketLimits, type SocketRejection } from './open-sockets.ts'
import { defaultRpcLimits, type RpcLimits } from './rpc-limits.ts'
import { closeCodes, type RpcHandler, RpcSession, type RpcSessionDeps } from './rpc-session.ts'

/** Collaborators and settings of {@link RpcServer}. */
export interface RpcServerDeps extends Omit<RpcSessionDeps, 'limits' | 'network' | 'onSignIn'> {
  readonly origins: Origins
  /** Networks of proxies whose `X-Forwarded-For` is trusted; default none. */
  readonly trustedProxies?: readonly string[]
  /** Creates the handler of a new session. */
  readonly open: (session: RpcSession, from: SessionSource) => RpcHandler
  readonly limits?: Partial<RpcLimits>
  /** Paths that accept WebSockets; default `/` and `/ws`. */
  readonly paths?: readonly string[]
  /** Limits of connections; default {@link defaultSocketLimits}. */
  readonly sockets?: Partial<SocketLimits>
  /** Maximum size of a frame in bytes; default 256 KiB. */
  readonly maxFrame?: number
  /** Maximum number of bytes that a connection may send before it signs in; default 64 KiB. */
  readonly maxBeforeSignIn?: number
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

/** Settings that can change while the server runs. */
export type RpcServerChange = {
  readonly sockets: SocketLimits
} & Required<Pick<RpcServerDeps, 'limits' | 'maxFrame' | 'maxBeforeSignIn' | 'trustedProxies'>>

const webSocketsOf = (maxPayload: number): WebSocketServer =>
  new WebSocketServer({ noServer: true, maxPayload, perMessageDeflate: false, clientTracking: false })

/** Accepts WebSockets on HTTP servers and opens a JSON-RPC session on each. */
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

  /** Changes the settings; open connections keep theirs. */
  change({ sockets, limits, maxFrame, maxBeforeSignIn, trustedProxies }: RpcServerChange): void {
    this.#deps = { ...this.#deps, limits, maxBeforeSignIn }
    this.#open.change(sockets)
    this.#sourceOf = sourceFinder(trustedProxies)
    // The former server has no listener and no connections of its own.
    this.#webSockets = webSocketsOf(maxFrame)
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
   * Handles the upgrade requests of an HTTP server. `taken` is called with each connection, which is counted
   * here from then on.
   */
  attach(server: Server, taken: (socket: Duplex) => void = () => {}): void {
    const listener: UpgradeListener = (request, socket, head) => {
      taken(socket)
      this.#upgrade(request, socket, head)
    }
    server.on('upgrade', listener)
    this.#attached.push({ server, listener })
  }

  /** Closes every session with code 1001 and accepts no more; idempotent. */
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
      const preSignIn = new UnauthenticatedLimit(socket, this.#deps.maxBeforeSignIn ?? 64 << 10)
      const onSignIn = () => {
        preSignIn.stop()
        counted.signedIn()
      }
      const session = new RpcSession(webSocket, { clock, log, metrics, limits, network, onSignIn })
      preSignIn.onExceeded = () => session.close(closeCodes.tooBig, 'too much data before sign-in')
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
