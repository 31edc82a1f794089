import { createServer as createHttpServer, type Server as HttpServer, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { createServer as createTlsServer, type TLSSocket, type Server as TlsServer } from 'node:tls'
import { type WebSocket, WebSocketServer } from 'ws'
import { domainsOf } from './identity.ts'
import type { TlsSettings } from './tls.ts'
import type { Protocol } from './types.ts'

/** What a socket has become, and the hosts that its client certificate proves it to be. */
export type HandshakeDone = (way: Socket | WebSocket, names: readonly string[]) => void

interface PendingHandshake {
  readonly arrived: HandshakeDone
  names: readonly string[]
}

/** The local address counts: a listener on all addresses may have two connections from one port of a peer. */
const keyOf = (socket: Pick<Socket, 'remoteAddress' | 'remotePort' | 'localAddress'>) =>
  `${socket.remoteAddress}|${socket.remotePort}|${socket.localAddress}`
const refusal = (status: string) => `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`

/** What stands between an accepted TCP connection and SIP: the TLS handshake and the WebSocket upgrade, as the protocol wants. */
export class HandshakeStage {
  readonly #settings: TlsSettings
  readonly #entering = new Map<string, PendingHandshake>()
  readonly #http: HttpServer | undefined
  readonly #webSockets: WebSocketServer | undefined
  readonly #secure: boolean
  readonly #failed: () => void
  #tls: TlsServer | undefined

  /** `failed` is called for each TLS handshake that comes to nothing. */
  constructor(protocol: Protocol, settings: TlsSettings, maxBytes: number, failed: () => void) {
    this.#settings = settings
    this.#failed = failed
    this.#secure = protocol === 'tls' || protocol === 'wss'
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

  /** Takes the present certificates for whoever enters from now on. Throws where they cannot be used. */
  reload(): void {
    if (!this.#secure) return
    // Never listens itself: sockets are handed to it.
    const server = createTlsServer(this.#settings.server())
    server.on('secureConnection', (socket) => this.#secured(socket))
    server.on('tlsClientError', (_error, socket) => {
      this.#failed()
      socket.destroy()
    })
    this.#tls = server
  }

  /** Leads a socket in. `arrived` is called at once for plain TCP, later, or never where the client fails; its owner limits the time. */
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
    // Without a certificate, or with one that nobody vouches for, a client has proved nothing.
    entering.names = socket.authorized ? domainsOf(socket.getPeerCertificate()) : []
    if (this.#http) this.#http.emit('connection', socket)
    else this.#done(socket, socket)
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const offered = request.headers['sec-websocket-protocol']?.split(',').map((each) => each.trim()) ?? []
    // RFC 7118 4.1: both sides have to agree on the subprotocol.
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
