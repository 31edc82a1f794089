import { createHash, timingSafeEqual } from 'node:crypto'
import { createServer, type Server, type Socket } from 'node:net'
import type { Clock } from '../../clock.ts'
import { App } from './app.ts'
import type { Apps } from './apps.ts'
import { FrameError, FrameReader, splitPayload } from './frames.ts'

/** What applications are told as the server's version; drachtio-srf reads only its start. */
export const version = 'v0.9.10-embedded'

/** An application must authenticate within this time, in ms. */
const authenticateWithin = 2_000
/** Applications that may be connected at the same time. */
const maxApps = 64
/** Methods one application may route; far more than there are. */
const maxRoutes = 64

/** What an authenticated application asks that is not plain book-keeping. */
export interface AppRequests {
  /** A `sip` frame: the fields after the verb, and the SIP message. */
  sip(app: App, msgId: string, fields: readonly string[], message: Buffer): void
  /** The connection is gone. */
  lost(app: App): void
}

const digest = (text: string) => createHash('sha256').update(text).digest()

/** The server side of the drachtio application protocol, on loopback TCP. */
export class AppServer {
  readonly #server: Server
  readonly #secret: Buffer
  readonly #apps: Apps
  readonly #clock: Clock
  readonly #requests: AppRequests
  readonly #fault: (error: unknown) => void
  readonly #hostports: () => { announced: string; bound: string }
  readonly #sockets = new Set<Socket>()

  constructor(options: {
    secret: string
    apps: Apps
    clock: Clock
    requests: AppRequests
    /** Told of an error within the agent while it served a frame. */
    fault: (error: unknown) => void
    /** `proto/host:port` lists for the answer to `authenticate`. */
    hostports: () => { announced: string; bound: string }
  }) {
    this.#secret = digest(options.secret)
    this.#apps = options.apps
    this.#clock = options.clock
    this.#requests = options.requests
    this.#fault = options.fault
    this.#hostports = options.hostports
    this.#server = createServer((socket) => this.#accept(socket))
  }

  /** Listens on a free port of 127.0.0.1, which it returns. */
  listen(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(0, '127.0.0.1', () => {
        const bound = this.#server.address()
        resolve(typeof bound === 'object' && bound ? bound.port : 0)
      })
    })
  }

  /** Closes the listener and every connection. */
  close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    return new Promise((resolve) => this.#server.close(() => resolve()))
  }

  #accept(socket: Socket) {
    if (this.#sockets.size >= maxApps) {
      socket.destroy()
      return
    }
    this.#sockets.add(socket)
    socket.setNoDelay(true)
    socket.setKeepAlive(true, 45_000)
    const app = new App(socket, this.#clock)
    const reader = new FrameReader()
    const strange = this.#clock.after(authenticateWithin, () => {
      if (!app.authenticated) app.drop()
    })
    socket.on('error', () => {})
    socket.on('data', (chunk) => this.#read(app, reader, chunk))
    socket.on('close', () => {
      strange.cancel()
      this.#sockets.delete(socket)
      this.#apps.remove(app)
      if (app.authenticated) this.#requests.lost(app)
    })
  }

  #read(app: App, reader: FrameReader, chunk: Buffer) {
    try {
      for (const payload of reader.push(chunk)) {
        if (!app.open) return
        this.#serve(app, payload)
      }
    } catch (error) {
      // The stream cannot be followed any further; what the application has open is cleaned up on close.
      app.drop()
      if (!(error instanceof FrameError)) this.#fault(error)
    }
  }

  /** A fault of ours over one frame costs that frame, not the connection and with it every call of the application. */
  #serve(app: App, payload: Buffer) {
    const { fields, message } = splitPayload(payload)
    try {
      this.#frame(app, fields, message)
    } catch (error) {
      this.#fault(error)
      app.nok(fields[0] ?? '', 'Server error: internal fault')
    }
  }

  #frame(app: App, fields: readonly string[], message: Buffer) {
    const [msgId = '', verb = '', ...rest] = fields
    if (verb === 'authenticate') return this.#authenticate(app, msgId, rest[0] ?? '')
    if (!app.authenticated) return app.refuse(msgId, 'not authenticated')
    if (verb === 'sip') return this.#requests.sip(app, msgId, rest, message)
    if (verb === 'ping') return app.ok(msgId, 'pong')
    if (verb === 'route') return this.#route(app, msgId, rest[0] ?? '')
    if (verb === 'remove_route') {
      app.routes.delete(rest[0] ?? '')
      return app.ok(msgId)
    }
    if (verb === 'proxy') return app.nok(msgId, 'proxy not supported')
    app.refuse(msgId, 'Unknown message type')
  }

  #route(app: App, msgId: string, verb: string) {
    if (app.routes.size >= maxRoutes) return app.nok(msgId, 'too many routes')
    app.routes.add(verb)
    app.ok(msgId)
  }

  #authenticate(app: App, msgId: string, secret: string) {
    if (!timingSafeEqual(digest(secret), this.#secret)) return app.refuse(msgId, 'incorrect secret')
    if (!app.authenticated) {
      app.authenticated = true
      this.#apps.add(app)
    }
    const { announced, bound } = this.#hostports()
    app.ok(msgId, announced, version, bound)
  }
}
