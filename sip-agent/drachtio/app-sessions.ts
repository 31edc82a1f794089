import { createHash, timingSafeEqual } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Clock } from '../clock.ts'
import { App } from './app.ts'
import type { Apps } from './apps.ts'
import { FrameError, FrameReader, splitPayload } from './frames.ts'

/** Server version that applications receive; drachtio-srf reads only its beginning. */
export const version = 'v0.9.10-embedded'

/** Maximum time in ms until an application authenticates. */
export const authenticationTimeoutMs = 2_000
/** Maximum number of routed methods of one application; far fewer methods exist. */
const maxRoutes = 64

/** Frames of an authenticated application that concern SIP messages. */
export interface AppRequests {
  /** Handles a `sip` frame: the fields after the verb, and the SIP message. */
  sip(app: App, msgId: string, fields: readonly string[], message: Buffer): void
  /** Handles a `proxy` frame: the fields after the verb, and a request with headers to add. */
  proxy(app: App, msgId: string, fields: readonly string[], message: Buffer): void
  /** Handles the loss of the connection. */
  lost(app: App): void
}

/** Collaborators of all application connections. */
export interface AppSessionDeps {
  readonly apps: Apps
  readonly clock: Clock
  readonly requests: AppRequests
  /** Receives internal errors in the handling of a frame. */
  readonly fault: (error: unknown) => void
  /** Returns the `proto/host:port` lists for the answer to `authenticate`. */
  readonly hostports: () => { announced: string; bound: string }
  /** Maximum number of unread bytes, beyond which the connection is closed. */
  readonly maxBacklog: number
}

/** Options of one connection. */
export interface AppSessionOptions {
  readonly secret: string
  /** Whether the agent opened the connection, for one request. */
  readonly isDedicated: boolean
  /** Called once, after the application has authenticated and received the answer. */
  readonly ready?: (app: App) => void
  /** Called once, after the connection was closed. */
  readonly gone?: () => void
}

const digest = (text: string) => createHash('sha256').update(text).digest()

/**
 * Connections of applications: splits them into frames, checks the secret and handles frames without a SIP
 * message.
 */
export class AppSessions {
  readonly #parts: AppSessionDeps
  readonly #sockets = new Set<Socket>()

  constructor(parts: AppSessionDeps) {
    this.#parts = parts
  }

  /** Number of open connections. */
  get size(): number {
    return this.#sockets.size
  }

  /** Serves a connection until it is closed. The application always sends first, whichever side connected. */
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

  /** Closes every connection. */
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
      // The stream is malformed. The close event then cleans up the application's calls.
      app.drop()
      if (!(error instanceof FrameError)) this.#parts.fault(error)
    }
  }

  /**
   * Handles a frame. An internal error costs this frame, not the connection with all calls of the
   * application.
   */
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

  /**
   * Checks the secret. The tags after it are ignored: only HTTP routing uses them, which the agent does not
   * have.
   */
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
