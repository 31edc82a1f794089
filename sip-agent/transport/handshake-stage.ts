import { createServer as createHttpServer, type Server as HttpServer, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { createServer as createTlsServer, type TLSSocket, type Server as TlsServer } from 'node:tls'
import { type WebSocket, WebSocketServer } from 'ws'
import { domainsOf } from './identity.ts'
import type { TlsSettings } from './tls.ts'
import type { Protocol } from './types.ts'

/** Receives the socket after its handshakes, with the hosts that its client certificate proves. */
export type HandshakeDone = (way: Socket | WebSocket, names: readonly string[]) => void

interface PendingHandshake {
  readonly arrived: HandshakeDone
  names: readonly string[]
}

/**
 * Returns a key for a socket. It includes the local address, because a listener on all addresses may have two
 * connections from one port of a peer.
 */
const keyOf = (socket: Pick<Socket, 'remoteAddress' | 'remotePort' | 'localAddress'>) =>
  `${socket.remoteAddress}|${socket.remotePort}|${socket.localAddress}`
const refusal = (status: string) => `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`

/**
 * Handshakes between an accepted TCP connection and SIP: TLS and the WebSocket upgrade, as the protocol
 * requires.
 */
export class HandshakeStage {
  readonly #settings: TlsSettings
  readonly #entering = new Map<string, PendingHandshake>()
  readonly #http: HttpServer | undefined
  readonly #webSockets: WebSocketServer | undefined
  readonly #isSecure: boolean
  readonly #failed: () => void
  #tls: TlsServer | undefined

  /** `failed` is called for each failed TLS handshake. */
  constructor(protocol: Protocol, settings: TlsSettings, maxBytes: number, failed: () => void) {
    this.#settings = settings
    this.#failed = failed
    this.#isSecure = protocol === 'tls' || protocol === 'wss'
    if (protocol !== 'ws' && protocol !== 'wss') return
    this.#http = createHttpServer({ maxHeaderSize: 8_192 }, (_request, response) => {
      response.writeHead(426, { Connection: 'close', Upgrade: 'websocket' }).end()
    })
    this.#http.on('upgrade', (request, socket, head) => this.#upgrade(request, socket, head))
    this.#webSockets = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: maxBytes,
      maxFragments: 1_024,
      handleProtocols: () => 'sip',
    })
  }

  /** Applies the present certificates to new connections. Throws if they are invalid. */
  reload(): void {
    if (!this.#isSecure) return
    // This server never listens: accepted sockets are passed to it.
    const server = createTlsServer(this.#settings.server())
    server.on('secureConnection', (socket) => this.#secured(socket))
    server.on('tlsClientError', (_error, socket) => {
      this.#failed()
      socket.destroy()
    })
    this.#tls = server
  }

  /**
   * Performs the handshakes of a socket. `arrived` is called at once for plain TCP, later otherwise, and
   * never if the client fails. The caller limits the time.
   */
  accept(socket: Socket, arrived: HandshakeDone): void {
    if (!this.#tls && !this.#http) {
      arrived(socket, [])
      return
    }
    const key = keyOf(socket)
    const entering: PendingHandshake = { arrived, names: [] }
    this.#entering.set(key, entering)
    socket.once('close', () => {
      if (this.#entering.get(key) === entering) this.#entering.delete(key)
    })
    ;(this.#tls ?? this.#http)?.emit('connection', socket)
  }

  #secured(socket: TLSSocket): void {
    const entering = this.#entering.get(keyOf(socket))
    if (!entering) {
      socket.destroy()
      return
    }
    // A client without a certificate, or with one that is not trusted, has no proven host names.
    entering.names = socket.authorized ? domainsOf(socket.getPeerCertificate()) : []
    if (this.#http) this.#http.emit('connection', socket)
    else this.#done(socket, socket)
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const offered = request.headers['sec-websocket-protocol']?.split(',').map((each) => each.trim()) ?? []
    // RFC 7118 4.1: client and server must agree on the subprotocol `sip`.
    if (!offered.includes('sip')) {
      socket.end(refusal('400 Bad Request'), () => socket.destroy())
      return
    }
    this.#webSockets?.handleUpgrade(request, socket, head, (webSocket) =>
      this.#done(request.socket, webSocket),
    )
  }

  #done(socket: Socket, way: Socket | WebSocket): void {
    const key = keyOf(socket)
    const entering = this.#entering.get(key)
    this.#entering.delete(key)
    if (entering) entering.arrived(way, entering.names)
    else socket.destroy()
  }
}
