import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, freePortRange } from '../../media/testing/free-ports.ts'
import { Program } from './program.ts'
import { until } from './until.ts'

/** Program of Debian's package `coturn`. */
export const coturn = 'turnserver'

const loopback = '127.0.0.1'

/**
 * coturn as an operator configures it for the gateway: UDP and TCP on one port of 127.0.0.1, passwords by a
 * shared secret.
 */
export class Coturn {
  readonly #program: Program
  readonly #folder: string
  readonly port: number
  readonly secret: string

  private constructor(program: Program, folder: string, port: number, secret: string) {
    this.#program = program
    this.#folder = folder
    this.port = port
    this.secret = secret
  }

  /** Starts a server, and waits until it listens. */
  static async start(secret: string): Promise<Coturn> {
    const folder = mkdtempSync(join(tmpdir(), 'coturn-'))
    const port = await freePort()
    const relayed = await freePortRange(98)
    const options = {
      'listening-ip': loopback,
      'listening-port': String(port),
      'relay-ip': loopback,
      'min-port': String(relayed.from),
      'max-port': String(relayed.to),
      realm: 'turn.test',
      'static-auth-secret': secret,
      userdb: join(folder, 'turndb'),
      pidfile: join(folder, 'turnserver.pid'),
      'log-file': 'stdout',
    }
    // Only tests may relay to this machine: any user with a password could reach services on loopback.
    const flags = ['use-auth-secret', 'allow-loopback-peers', 'no-cli', 'no-tls', 'no-dtls', 'verbose']
    const args = [
      // `-n`: ignores the machine's configuration file.
      '-n',
      ...Object.entries(options).map(([name, value]) => `--${name}=${value}`),
      ...flags.map((name) => `--${name}`),
    ]
    const program = new Program(coturn, args, { cwd: folder, name: 'coturn' })
    const server = new Coturn(program, folder, port, secret)
    try {
      await until('coturn listens', () => server.#isReady(), Boolean, 10_000)
    } catch (error) {
      await server.stop()
      throw new Error(`${(error as Error).message}\n${program.lines.join('\n')}`)
    }
    return server
  }

  /** URL of the server over UDP. */
  get udp(): string {
    return `turn:${loopback}:${this.port}?transport=udp`
  }

  /** URL of the server over TCP. */
  get tcp(): string {
    return `turn:${loopback}:${this.port}?transport=tcp`
  }

  /** User names of the allocations so far, in order, with repetitions. */
  get users(): readonly string[] {
    return this.#program.lines.flatMap((line) => {
      const user = /user <([^>]+)>: incoming packet ALLOCATE processed, success/.exec(line)?.[1]
      return user === undefined ? [] : [user]
    })
  }

  /** Ends the server, waits for its end, and removes its files. Idempotent. */
  async stop(): Promise<void> {
    await this.#program.stop()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #isReady(): boolean {
    if (this.#program.exitCode !== undefined) throw new Error(`coturn ended with ${this.#program.exitCode}`)
    return ['UDP', 'TCP'].every((kind) =>
      this.#program.lines.some((line) =>
        new RegExp(`${kind} listener opened on ?: ${loopback}:${this.port}`, 'i').test(line),
      ),
    )
  }
}
