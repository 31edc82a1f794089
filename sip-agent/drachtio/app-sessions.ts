import { createHash, timingSafeEqual } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Clock } from '../clock.ts'
import { App } from './app.ts'
import type { Apps } from './apps.ts'
import { FrameError, FrameReader, splitPayload } from './frames.ts'

/** What applications are told as the server's version; drachtio-srf reads only its start. */
export const version = 'v0.9.10-embedded'

/** An application must authenticate within this time, in ms. */
export const authenticationTimeoutMs = 2_000
/** Methods one application may route; far more than there are. */
const maxRoutes = 64

/** What an authenticated application asks that is not plain book-keeping. */
export interface AppRequests {
  /** A `sip` frame: the fields after the verb, and the SIP message. */
  sip(app: App, msgId: string, fields: readonly string[], message: Buffer): void
  /** A `proxy` frame: the same, with the request whose headers are to be added. */
  proxy(app: App, msgId: string, fields: readonly string[], message: Buffer): void
  /** The connection is gone. */
  lost(app: App): void
}

/** What every connection of an application works with. */
export interface AppSessionDeps {
  readonly apps: Apps
  readonly clock: Clock
  readonly requests: AppRequests
  /** Told of an error within the agent while it served a frame. */
  readonly fault: (error: unknown) => void
  /** `proto/host:port` lists for the answer to `authenticate`. */
  readonly hostports: () => { announced: string; bound: string }
  /** Bytes that may wait for an application that does not read; beyond it the connection is cut off. */
  readonly maxBacklog: number
}

/** How one connection begins. */
export interface AppSessionOptions {
  readonly secret: string
  /** True where the agent made the connection, for one request. */
  readonly isDedicated: boolean
  /** Called once, when the application has authenticated and was told so. */
  readonly ready?: (app: App) => void
  /** Called once, when the connection is gone. */
  readonly gone?: () => void
}

const digest = (text: string) => createHash('sha256').update(text).digest()

/** The connections of applications: cuts them into frames, checks the secret, serves what is no SIP message. */
export class AppSessions {
  readonly #parts: AppSessionDeps
  readonly #sockets = new Set<Socket>()

  constructor(parts: AppSessionDeps) {
    this.#parts = parts
  }

  /** Open connections. */
  get size(): number {
    return this.#sockets.size
  }

  /** Serves a connection until it ends. In both directions of connecting the application speaks first. */
  open(socket: Socket, start: AppSessionOptions) {
    const { clock, apps, requests, maxBacklog } = this.#parts
    this.#sockets.add(socket)
    socket.setNoDelay(true)
    socket.setKeepAlive(true, 45_000)
    const app = new App(socket, clock, { maxBacklog, dedicated: start.isDedicated })
    const reader = new FrameReader()
    const strange = clock.after(authenticationTimeoutMs, () => {
      if (!app.isAuthenticated) app.drop()
    })
    socket.on('error', () => {})
    socket.on('data', (chunk) => this.#read(app, start, reader, chunk))
    socket.on('close', () => {
      strange.cancel()
      this.#sockets.delete(socket)
      apps.remove(app)
      start.gone?.()
      if (app.isAuthenticated) requests.lost(app)
    })
  }

  /** Cuts every connection. */
  close() {
    for (const socket of this.#sockets) socket.destroy()
  }

  #read(app: App, start: AppSessionOptions, reader: FrameReader, chunk: Buffer) {
    try {
      for (const payload of reader.push(chunk)) {
        if (!app.isOpen) return
        this.#serve(app, start, payload)
      }
    } catch (error) {
      // The stream cannot be followed any further; what the application has open is cleaned up on close.
      app.drop()
      if (!(error instanceof FrameError)) this.#parts.fault(error)
    }
  }

  /** A fault of ours over one frame costs that frame, not the connection and with it every call of the application. */
  #serve(app: App, start: AppSessionOptions, payload: Buffer) {
    const { fields, message } = splitPayload(payload)
    try {
      this.#frame(app, start, fields, message)
    } catch (error) {
      this.#parts.fault(error)
      app.reject(fields[0] ?? '', 'Server error: internal fault')
    }
  }

  #frame(app: App, start: AppSessionOptions, fields: readonly string[], message: Buffer) {
    const [msgId = '', verb = '', ...rest] = fields
    if (verb === 'authenticate') return this.#authenticate(app, start, msgId, rest[0] ?? '')
    if (!app.isAuthenticated) return app.rejectAndClose(msgId, 'not authenticated')
    if (verb === 'sip') return this.#parts.requests.sip(app, msgId, rest, message)
    if (verb === 'ping') return app.ok(msgId, 'pong')
    if (verb === 'route') return this.#route(app, msgId, rest[0] ?? '')
    if (verb === 'remove_route') {
      app.routes.delete(rest[0] ?? '')
      return app.ok(msgId)
    }
    if (verb === 'proxy') return this.#parts.requests.proxy(app, msgId, rest, message)
    app.rejectAndClose(msgId, 'Unknown message type')
  }

  #route(app: App, msgId: string, verb: string) {
    if (app.routes.size >= maxRoutes) return app.reject(msgId, 'too many routes')
    app.routes.add(verb)
    app.ok(msgId)
  }

  /** The tags that follow the secret choose an application only where HTTP routing asks for one, which is not built. */
  #authenticate(app: App, start: AppSessionOptions, msgId: string, secret: string) {
    if (!timingSafeEqual(digest(secret), digest(start.secret)))
      return app.rejectAndClose(msgId, 'incorrect secret')
    const { announced, bound } = this.#parts.hostports()
    app.ok(msgId, announced, version, bound)
    if (app.isAuthenticated) return
    app.isAuthenticated = true
    this.#parts.apps.add(app)
    start.ready?.(app)
  }
}
