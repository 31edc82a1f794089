import { connect } from 'node:net'
import type { Clock } from '../clock.ts'
import type { App } from './app.ts'
import { type AppSessions, authenticationTimeoutMs } from './app-sessions.ts'
import type { Apps } from './apps.ts'

/** Application that the agent connects to for each new request (`srf.listen` on the application's side). */
export interface Handler {
  /** Method in upper case, or `*` for every method. */
  readonly method: string
  readonly host: string
  readonly port: number
  /** Secret that the application must send. Default: the secret of the agent. Must not be logged. */
  readonly secret?: string
}

/**
 * Maximum number of connections to handlers. It is the applications that close them, so a leak there must not
 * take every socket.
 */
const maxConnections = 10_000

/**
 * Finds the application for a new request. If its method has a handler, the agent opens a connection to it
 * for this request. That connection serves the request's dialogs until the application closes it. Other
 * requests go to the connected applications.
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
    /** Secret of handlers that have none of their own. */
    secret: string
  }) {
    this.#handlers = options.handlers
    this.#apps = options.apps
    this.#sessions = options.sessions
    this.#clock = options.clock
    this.#secret = options.secret
  }

  /**
   * Finds the application for a request of this method. Calls `done` once, within 2 s. Without an
   * application, `status` is the status of the rejection. It is 480 if the handler does not respond, and 503
   * if no connected application routes the method or has room for the request.
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
