import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../media/testing/free-ports.ts'
import { Program } from './program.ts'
import { until } from './until.ts'

/** A drachtio-server that the environment names. */
export type NamedServer =
  | { readonly kind: 'running'; readonly host: string; readonly port: number; readonly secret: string }
  | { readonly kind: 'binary'; readonly path: string }

/**
 * Reads `DRACHTIO_SERVER`: `host:port` of a server's port for applications, whose secret is in `DRACHTIO_SECRET` (default `cymru`), or the path
 * of a binary. Undefined where it is not set; throws where it is neither of the two.
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

/** Ports of a server that is started here. */
export interface ServerPorts {
  readonly admin: number
  readonly sip: number
}

/** The smallest configuration with which it answers calls of this machine; it must be a file, whatever the command line says. */
export const configFile = ({ admin, sip }: ServerPorts, secret: string): string => `<drachtio>
  <admin port="${admin}" secret="${secret}">127.0.0.1</admin>
  <sip>
    <contacts><contact>sip:127.0.0.1:${sip};transport=udp,tcp</contact></contacts>
  </sip>
  <logging><console/><loglevel>error</loglevel><sofia-loglevel>1</sofia-loglevel></logging>
</drachtio>
`

/** What a server prints, and where it lies, while it runs. */
interface Started {
  readonly program: Program
  readonly folder: string
}

/** A real drachtio-server: one that runs already, or one in a process of its own. */
export class DrachtioServer {
  readonly host: string
  /** For applications. */
  readonly port: number
  readonly secret: string
  readonly #started: Started | undefined

  constructor(address: { host: string; port: number; secret: string }, started?: Started) {
    this.host = address.host
    this.port = address.port
    this.secret = address.secret
    this.#started = started
  }

  /** Starts a binary on free ports of 127.0.0.1, and waits until it takes applications; a server that runs is used as it is. */
  static async start(named: NamedServer): Promise<DrachtioServer> {
    if (named.kind === 'running') return new DrachtioServer(named)
    const [ports, secret] = [{ admin: await freePort(), sip: await freePort() }, 'scenarios']
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

  /** Ends one that was started here, and removes its files. Idempotent. */
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
