import { connect } from 'node:net'
import type { Clock } from '../clock.ts'
import type { App } from './app.ts'
import { type AppSessions, authenticationTimeoutMs } from './app-sessions.ts'
import type { Apps } from './apps.ts'

/** An application that the agent connects to for each new request, as with `srf.listen`. */
export interface Handler {
  /** The method that it takes, in upper case, or `*` for every one. */
  readonly method: string
  readonly host: string
  readonly port: number
  /** What the application has to say first. Default: the secret of the agent. Never to be logged. */
  readonly secret?: string
}

/** Connections to handlers at the same time. Applications end them, so one that forgets to must not take every socket. */
const maxConnections = 10_000

/**
 * Finds the application for a new request. Where its method has a handler, the agent connects to that one, anew for each request; the
 * connection then serves the dialogs that are born on it, until the application ends it. The others go to who is connected.
 */
export class AppFinder {
  readonly #handlers: readonly Handler[]
  readonly #apps: Apps
  readonly #sessions: AppSessions
  readonly #clock: Clock
  readonly #secret: string
  #open = 0

  constructor(options: {
    handlers: readonly Handler[]
    apps: Apps
    sessions: AppSessions
    clock: Clock
    /** For handlers without one of their own. */
    secret: string
  }) {
    this.#handlers = options.handlers
    this.#apps = options.apps
    this.#sessions = options.sessions
    this.#clock = options.clock
    this.#secret = options.secret
  }

  /**
   * Finds the application for a request of this method. Calls `done` once, at once or within 2 s; without an application, `status` says what
   * the sender gets: 480 where the handler is not there, 503 where nobody is connected that wants it, or has room for it.
   */
  find(method: string, done: (app: App | undefined, status: number) => void) {
    const handler =
      this.#handlers.find((each) => each.method === method) ??
      this.#handlers.find((each) => each.method === '*')
    if (!handler) done(this.#apps.forRequest(method.toLowerCase()), 503)
    else if (this.#open >= maxConnections) done(undefined, 480)
    else this.#connect(handler, (app) => done(app, 480))
  }

  #connect(handler: Handler, done: (app: App | undefined) => void) {
    const { host, port, secret = this.#secret } = handler
    const socket = connect({ host, port })
    this.#open++
    let waiting = true
    const end = (app: App | undefined) => {
      limit.cancel()
      if (waiting) {
        waiting = false
        done(app)
      }
    }
    const limit = this.#clock.after(authenticationTimeoutMs, () => {
      if (waiting) socket.destroy()
      end(undefined)
    })
    this.#sessions.open(socket, {
      secret,
      isDedicated: true,
      ready: end,
      gone: () => {
        this.#open--
        end(undefined)
      },
    })
  }
}
