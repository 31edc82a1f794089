import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../media/testing/free-ports.ts'
import { Program } from './program.ts'
import { until } from './until.ts'

/** A drachtio-server of the environment. */
export type NamedServer =
  | { readonly kind: 'running'; readonly host: string; readonly port: number; readonly secret: string }
  | { readonly kind: 'binary'; readonly path: string }

/**
 * Reads `DRACHTIO_SERVER`: `host:port` of a server's port for applications, or the path of a binary.
 * `DRACHTIO_SECRET` is the server's secret, default `cymru`. Returns undefined without the variable. Throws
 * for any other value.
 */
export const namedServer = (environment: NodeJS.ProcessEnv): NamedServer | undefined => {
  const text = environment.DRACHTIO_SERVER?.trim()
  if (!text) return undefined
  if (text.includes('/')) {
    if (!existsSync(text)) throw new Error(`DRACHTIO_SERVER: there is no file ${text}`)
    return { kind: 'binary', path: text }
  }
  const [, host, port] = /^(?:\[([\da-f:.]+)\]|([^\s:]+)):(\d{1,5})$/i.exec(text)?.filter(Boolean) ?? []
  if (host === undefined || Number(port) < 1 || Number(port) > 65_535)
    throw new Error(`DRACHTIO_SERVER is neither host:port nor the path of a binary: ${text}`)
  return { kind: 'running', host, port: Number(port), secret: environment.DRACHTIO_SECRET ?? 'cymru' }
}

/** Ports of a server that the tests start. */
export interface ServerPorts {
  readonly admin: number
  readonly sip: number
}

/**
 * Smallest configuration for calls on this machine. The server needs a file, whatever its command line says.
 */
export const configFile = ({ admin, sip }: ServerPorts, secret: string): string => `<drachtio>
  <admin port="${admin}" secret="${secret}">127.0.0.1</admin>
  <sip>
    <contacts><contact>sip:127.0.0.1:${sip};transport=udp,tcp</contact></contacts>
  </sip>
  <logging><console/><loglevel>error</loglevel><sofia-loglevel>1</sofia-loglevel></logging>
</drachtio>
`

/** Process and folder of a server. */
interface Started {
  readonly program: Program
  readonly folder: string
}

/** Real drachtio-server: a running one, or a process that the tests start. */
export class DrachtioServer {
  readonly host: string
  /** Port for applications. */
  readonly port: number
  readonly secret: string
  readonly #started: Started | undefined

  constructor(address: { host: string; port: number; secret: string }, started?: Started) {
    this.host = address.host
    this.port = address.port
    this.secret = address.secret
    this.#started = started
  }

  /**
   * Starts a binary on free ports of 127.0.0.1, and waits until it accepts applications. Uses a running
   * server as it is.
   */
  static async start(named: NamedServer): Promise<DrachtioServer> {
    if (named.kind === 'running') return new DrachtioServer(named)
    const ports = { admin: await freePort(), sip: await freePort() }
    const secret = 'scenarios'
    const folder = mkdtempSync(join(tmpdir(), 'drachtio-'))
    const file = join(folder, 'drachtio.conf.xml')
    writeFileSync(file, configFile(ports, secret))
    const program = new Program(named.path, ['-f', file], { cwd: folder, name: 'drachtio-server' })
    const server = new DrachtioServer({ host: '127.0.0.1', port: ports.admin, secret }, { program, folder })
    try {
      await until('the drachtio-server takes applications', () => server.#isUp(), Boolean, 5_000)
    } catch (error) {
      await server.stop()
      throw new Error(`${(error as Error).message}\n${program.lines.join('\n')}`)
    }
    return server
  }

  /** Ends the server if the tests started it, and removes its files. Idempotent. */
  async stop(): Promise<void> {
    if (!this.#started) return
    await this.#started.program.stop()
    rmSync(this.#started.folder, { recursive: true, force: true })
  }

  #isUp(): Promise<boolean> {
    if (this.#started?.program.exitCode !== undefined)
      throw new Error(`the drachtio-server ended with ${this.#started.program.exitCode}`)
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const socket = connect(this.port, this.host, () => resolve(true))
    socket.on('error', () => resolve(false))
    return promise.finally(() => socket.destroy())
  }
}
