import { createServer, type Server } from 'node:net'
import type { AppSessions } from './app-sessions.ts'

/** Maximum number of connected applications. */
const maxApps = 64

/** Server side of drachtio's application protocol, on loopback TCP. */
export class AppServer {
  readonly #server: Server
  readonly #sessions: AppSessions
  #connected = 0

  /** `secret` is required of every application. */
  constructor(sessions: AppSessions, secret: string) {
    this.#sessions = sessions
    this.#server = createServer((socket) => {
      if (this.#connected >= maxApps) {
        socket.destroy()
        return
      }
      this.#connected++
      this.#sessions.open(socket, { secret, isDedicated: false, gone: () => this.#connected-- })
    })
  }

  /** Listens on a free port of 127.0.0.1 and returns the port. */
  listen(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(0, '127.0.0.1', () => {
        const bound = this.#server.address()
        resolve(typeof bound === 'object' && bound ? bound.port : 0)
      })
    })
  }

  /** Closes the listener and every connection, including those to handlers. */
  close(): Promise<void> {
    this.#sessions.close()
    return new Promise((resolve) => this.#server.close(() => resolve()))
  }
}
