import { chmodSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import type { Clock } from '../core/clock.ts'
import { TrunklineError } from '../core/errors/catalogue.ts'
import type { Log } from '../core/log.ts'

/**
 * Maximum length of a Unix socket's path, in bytes: `sun_path` has 108 on Linux and 104 elsewhere, with the
 * final zero.
 */
export const maxSocketPath = 103

/** Maximum length of a request, in bytes. */
const maxRequest = 8_192
/** Maximum number of connections that are served. */
const maxConnections = 8
/** Maximum number of open connections. Those beyond {@link maxConnections} learn that the gateway is busy. */
const maxSockets = 64
/** Maximum time in ms from the connection to the end of its request. */
export const controlRequestMs = 5_000

const busy =
  `${maxConnections} commands are connected to the gateway, which is the maximum. ` +
  'Run the command again when one of them has ended.'

/** Returns the path of a gateway's control socket. */
export const controlSocketOf = (dataDir: string): string => join(dataDir, 'control.sock')

/** Handles one kind of request, with its fields. Rejects with a TrunklineError for an invalid field. */
export type ControlRequest = (fields: Readonly<Record<string, unknown>>) => Promise<object>

/** Collaborators of {@link ControlSocket}. */
export interface ControlSocketOptions {
  readonly dataDir: string
  /** Handlers by the name in the field `command`. */
  readonly requests: Readonly<Record<string, ControlRequest>>
  readonly clock: Pick<Clock, 'after'>
  readonly log: Pick<Log, 'warn' | 'error'>
}

/**
 * The Unix socket by which commands such as `trunkline status` reach the gateway: one line of JSON each way.
 * The socket has mode 0600, and the data folder belongs to the user of the gateway. Only this user can
 * connect.
 */
export class ControlSocket {
  readonly #options: ControlSocketOptions
  readonly #path: string
  readonly #sockets = new Set<Socket>()
  #server: Server | undefined

  private constructor(options: ControlSocketOptions) {
    this.#options = options
    this.#path = controlSocketOf(options.dataDir)
  }

  /**
   * Opens the socket in a data folder that this process has locked. If the path is too long, or the file
   * system has no sockets, logs a warning and opens none.
   */
  static async open(options: ControlSocketOptions): Promise<ControlSocket> {
    const control = new ControlSocket(options)
    const { log } = options
    if (Buffer.byteLength(control.#path) > maxSocketPath) {
      const event = 'control.socket-missing'
      log.warn({ event, path: control.#path }, 'control socket not opened: path too long; use SIGHUP')
      return control
    }
    try {
      await control.#listen()
    } catch (err) {
      log.warn(
        { event: 'control.socket-missing', path: control.#path, err },
        'control socket not opened; use SIGHUP',
      )
    }
    return control
  }

  /** Idempotent. */
  async close(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    for (const socket of this.#sockets) socket.destroy()
    if (!server) return
    await new Promise<void>((resolve) => server.close(() => resolve()))
    rmSync(this.#path, { force: true })
  }

  async #listen(): Promise<void> {
    // The lock of the folder proves that the process of an old socket has ended.
    rmSync(this.#path, { force: true })
    const server = createServer((socket) => this.#serve(socket))
    server.maxConnections = maxSockets
    const umask = process.umask(0o177)
    try {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      server.once('error', reject)
      server.listen(this.#path, resolve)
      // `listen` creates the socket file before it returns, so the mask can be restored now.
      process.umask(umask)
      await promise
    } finally {
      process.umask(umask)
    }
    chmodSync(this.#path, 0o600)
    server.on('error', (err) =>
      this.#options.log.error({ event: 'control.failed', err }, 'control socket failed'),
    )
    this.#server = server
  }

  #serve(socket: Socket): void {
    const isBusy = this.#sockets.size >= maxConnections
    this.#sockets.add(socket)
    let text = ''
    let isRead = false
    const limit = this.#options.clock.after(controlRequestMs, () => socket.destroy())
    socket.setEncoding('utf8')
    socket.on('error', () => socket.destroy())
    socket.on('close', () => {
      limit.cancel()
      this.#sockets.delete(socket)
    })
    socket.on('data', (chunk: string) => {
      if (isRead) return
      text += chunk
      const end = text.indexOf('\n')
      if (text.length > maxRequest) socket.destroy()
      else if (end >= 0) {
        isRead = true
        limit.cancel()
        void this.#answer(socket, isBusy ? undefined : text.slice(0, end))
      }
    })
  }

  /** Answers a request; undefined for one that the gateway is too busy for. */
  async #answer(socket: Socket, line: string | undefined): Promise<void> {
    const answer =
      line === undefined ? { error: busy, code: 'too_many_requests' } : await this.#answerOf(line)
    if (!socket.destroyed) socket.end(`${JSON.stringify(answer)}\n`)
  }

  async #answerOf(line: string): Promise<object> {
    const fields = readFields(line)
    const { requests, log } = this.#options
    const name = String(fields?.command)
    const request = Object.hasOwn(requests, name) ? requests[name] : undefined
    if (!fields || !request) return { error: 'unknown request' }
    try {
      return await request(fields)
    } catch (error) {
      if (error instanceof TrunklineError) return { error: error.detail ?? error.message, code: error.code }
      log.error({ event: 'control.request-failed', command: name, err: error }, 'request of a command failed')
      return { error: 'internal error of the gateway; its log has the reason', code: 'internal' }
    }
  }
}

/** Returns the fields of a request; undefined if the line is no JSON object. */
const readFields = (line: string): Readonly<Record<string, unknown>> | undefined => {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
