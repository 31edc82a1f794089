import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { inject } from 'vitest'
import type { ReloadBody } from '../../gateway/reload/reload-report.ts'
import { freePort, type LeasedRange, leaseRtpRange } from '../../media/testing/free-ports.ts'
import type { SipAgent } from './agents.ts'
import type { CertificateFiles } from './certificates.ts'
import type { DrachtioServer } from './drachtio-server.ts'
import { readMetrics, type Sample, sampleValue } from './metrics.ts'
import { Program } from './program.ts'
import { apiToken, authorizationOf } from './recorded.ts'
import { until } from './until.ts'

const root = dirname(dirname(import.meta.dirname))
const command = join(root, 'scripts', 'trunkline')

/**
 * Configuration of a scenario, with the keys of the YAML file. Ports, folders and addresses are filled in.
 */
export interface GatewayOptions {
  readonly domains?: readonly object[]
  readonly subscribers?: readonly object[]
  readonly resources?: readonly object[]
  readonly endpoints?: readonly object[]
  /** SIP agent; default the embedded one. */
  readonly agent?: SipAgent
  /** Whether the gateway also has SIP and audio on ::1; default false. */
  readonly ipv6?: boolean
  readonly carriers?: readonly object[]
  readonly envs?: Readonly<Record<string, string>>
  /** Whether the gateway has SIP over TLS, at {@link Gateway.sipsPort}; default false. */
  readonly sips?: boolean
  /** Keys of `sip` besides its listeners. */
  readonly sip?: Readonly<Record<string, unknown>>
  /** Keys of `media` besides its ports. */
  readonly media?: Readonly<Record<string, unknown>>
  /** Keys of `media.webrtc.turn`. */
  readonly turn?: Readonly<Record<string, unknown>>
  readonly limits?: Readonly<Record<string, unknown>>
  /** Certificate of the TLS listener for gw.localhost and fabric.localhost; default that of the test run. */
  readonly certificate?: CertificateFiles
  /** Keys of `http` besides its listeners. */
  readonly http?: Readonly<Record<string, unknown>>
  readonly webhooks?: Readonly<Record<string, unknown>>
  readonly agents?: Readonly<Record<string, unknown>>
  readonly push?: Readonly<Record<string, unknown>>
  /** Keys of `oauth` besides the URL, which is that of the TLS listener at gw.localhost. */
  readonly oauth?: Readonly<Record<string, unknown>>
  /** Projects besides the first one, whose token is `http.apiToken`. */
  readonly projects?: readonly object[]
  readonly drain?: string
  /** Environment variables of the gateway's process, besides those of the tests. */
  readonly environment?: Readonly<Record<string, string>>
  readonly rtpPorts?: number
  /** Data folder; default a new one, removed with the gateway. */
  readonly dataDir?: string
}

/** Configuration file of a running gateway, with the lists of the options. */
export type WrittenConfig = Readonly<Record<string, unknown>> & {
  readonly domains: readonly object[]
  readonly carriers?: readonly object[]
}

/** One line of the gateway's log. */
export type LogLine = Readonly<Record<string, unknown>> & { readonly level: number; readonly msg?: string }

/** The subscriber of most scenarios, with the address `/public/alice`. */
export const alice = { email: 'alice@example.test', password: 'wonderland-9' } as const

/** Gauges that are zero without a call. */
const callGauges = (
  'calls legs bridges video_bridges room_sessions room_members room_playbacks room_streams composed_rooms call_parties attributed_calls verbs conferences queue_waiting sip_dialogs sip_agent_dialogs sip_agent_pending ' +
  'rtp_ports media_ports webrtc_transports ' +
  'call_timers call_rows commanded_calls application_calls speech_recognitions streams api_streams agents recordings media_mixers media_recordings media_taps media_detections'
).split(' ')

/** Gateway in a separate process, observed from outside only. */
export class Gateway {
  #program: Program
  readonly #folder: string
  readonly #file: string
  readonly #server: DrachtioServer | undefined
  readonly #authorization: string
  readonly #env: NodeJS.ProcessEnv
  readonly #rtp: LeasedRange
  #sipPort: number
  readonly httpPort: number
  readonly tlsPort: number
  /** Port for SIP over secure WebSockets. */
  readonly wssPort: number
  readonly sipsPort: number
  /** UDP port for the media of pages. */
  readonly webrtcPort: number

  constructor(
    program: Program,
    folder: string,
    ports: Ports,
    { server, authorization, env }: GatewayProcess,
  ) {
    this.#env = env
    this.#program = program
    this.#server = server
    this.#authorization = authorization
    this.#folder = folder
    this.#file = join(folder, 'gateway.yaml')
    this.#rtp = ports.rtp
    this.#sipPort = ports.sip
    this.httpPort = ports.http
    this.tlsPort = ports.tls
    this.wssPort = ports.wss
    this.sipsPort = ports.sips
    this.webrtcPort = ports.webrtc
  }

  /** Starts a gateway on free ports of 127.0.0.1 and waits until it is ready. */
  static async start(options: GatewayOptions = {}): Promise<Gateway> {
    const ports: Ports = {
      sip: await freePort(),
      http: await freePort(),
      tls: await freePort(),
      wss: await freePort(),
      sips: await freePort(),
      webrtc: await freePort(),
      rtp: await leaseRtpRange(options.rtpPorts ?? 400),
    }
    const folder = mkdtempSync(join(tmpdir(), 'gateway-'))
    const server = await options.agent?.server?.()
    writeFileSync(join(folder, 'gateway.yaml'), JSON.stringify(configOf(options, ports, server), null, 2))
    const env = { ...process.env, ...options.environment }
    const program = Gateway.#run(folder, env)
    const authorization = authorizationOf(String(options.http?.apiToken ?? apiToken))
    const gateway = new Gateway(program, folder, ports, { server, authorization, env })
    try {
      await until('the gateway is ready', () => gateway.#isReady(), Boolean, 20_000)
      if (server) gateway.#sipPort = gateway.#portOfServer()
    } catch (error) {
      await gateway.stop()
      throw new Error(`${(error as Error).message}\n${program.lines.join('\n')}`)
    }
    return gateway
  }

  static #run(folder: string, env: NodeJS.ProcessEnv): Program {
    return new Program(command, ['run', join(folder, 'gateway.yaml')], {
      cwd: root,
      env,
      name: 'gateway',
      detached: true,
    })
  }

  /** Kills the process with SIGKILL, and starts another with the same ports and data. */
  async crash(): Promise<void> {
    const killed = this.#program
    killed.signal('SIGKILL')
    await until('the killed gateway is gone', () => killed.exitCode !== undefined, Boolean)
    this.#program = Gateway.#run(this.#folder, this.#env)
    await until('the gateway is ready again', () => this.#isReady(), Boolean, 20_000)
  }

  /** Port of 127.0.0.1 for SIP over UDP and TCP. */
  get sipPort(): number {
    return this.#sipPort
  }

  /** Base URL of the plain HTTP listener. */
  get url(): string {
    return `http://127.0.0.1:${this.httpPort}`
  }

  /** Process id of the daemon. */
  get pid(): number {
    return this.#program.pid
  }

  /** Log lines so far. */
  get log(): LogLine[] {
    return this.#program.lines.flatMap((line) => {
      try {
        return [JSON.parse(line) as LogLine]
      } catch {
        return []
      }
    })
  }

  /** Output so far, for failure messages. */
  get output(): string {
    return this.#program.lines.join('\n')
  }

  /** Exit code; undefined while the gateway runs. */
  get exitCode(): number | null | undefined {
    return this.#program.exitCode
  }

  /** Returns the current metrics. */
  async metrics(): Promise<Sample[]> {
    return readMetrics(await (await fetch(`${this.url}/metrics`)).text())
  }

  /** Returns the value of one metric, whose name is given without the prefix. */
  async metric(name: string, labels: Readonly<Record<string, string>> = {}): Promise<number> {
    return sampleValue(await this.metrics(), `trunkline_${name}`, labels)
  }

  /**
   * Waits until every gauge of calls is zero, and the log has a record of each call. A record waits for the
   * figures of its media. `transactions`: waits for SIP transactions too, which RFC 3261 keeps for up to 32 s
   * after the last message over UDP.
   */
  async settled({ transactions = false } = {}): Promise<void> {
    const all = transactions ? [...callGauges, 'sip_transactions'] : callGauges
    // The remaining transactions of a drachtio-server cannot be queried.
    const gauges = this.#server ? all.filter((name) => !/^sip_(agent|transactions)/.test(name)) : all
    const busy = async (): Promise<string[]> => {
      const samples = await this.metrics()
      const missing = gauges.filter((name) => !samples.some((sample) => sample.name === `trunkline_${name}`))
      if (missing.length > 0) throw new Error(`no gauge ${missing.join(', ')}`)
      const logged = (event: string): number =>
        this.#program.lines.filter((line) => line.includes(`"event":"${event}"`)).length
      const over = sampleValue(samples, 'trunkline_calls_ended_total') + logged('call.rejected')
      const unrecorded = over - logged('call.ended')
      return gauges
        .map((name) => `${name}=${sampleValue(samples, `trunkline_${name}`)}`)
        .filter((text) => !text.endsWith('=0'))
        .concat(unrecorded > 0 ? [`calls without a record=${unrecorded}`] : [])
    }
    await until(
      'every gauge is zero, and every call is recorded',
      busy,
      (left) => left.length === 0,
      transactions ? 45_000 : 5_000,
    )
  }

  /** Waits for a log line with this error code. */
  refusal(code: string): Promise<LogLine> {
    const lines = (): LogLine[] => this.log.filter((line) => line.code === code)
    return until(`a log line with the code ${code}`, lines, (found) => found.length > 0, 5_000).then(
      (found) => found[0]!,
    )
  }

  /** Waits for the record of the call that has a leg with this Call-ID. */
  record(sipCallId: string | undefined): Promise<LogLine> {
    const isOf = ({ msg, legs }: LogLine): boolean =>
      msg === 'call ended' &&
      (legs as readonly { sipCallId?: string }[]).some((leg) => leg.sipCallId === sipCallId)
    const find = (): LogLine | undefined => this.log.find(isOf)
    return until(`the record of ${sipCallId}`, find, Boolean, 5_000) as Promise<LogLine>
  }

  /**
   * Requests an access token for a subscriber of its first project, as a customer's server does. The gateway
   * creates a missing subscriber.
   */
  async token(reference: string = alice.email): Promise<string> {
    const answer = await fetch(`${this.url}/api/fabric/subscribers/tokens`, {
      method: 'POST',
      headers: { authorization: this.#authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ reference }),
    })
    if (!answer.ok) throw new Error(`no token for ${reference}: ${answer.status} ${await answer.text()}`)
    return ((await answer.json()) as { readonly token: string }).token
  }

  /** Prints an access token by the command line, in a separate process. Takes seconds. */
  async printedToken(subscriber: string = alice.email): Promise<string> {
    const program = new Program(command, ['token', subscriber, this.#file], { cwd: root })
    if ((await program.end()) !== 0) throw new Error(program.lines.join('\n'))
    return program.lines.findLast((line) => line.trim() !== '')?.trim() ?? ''
  }

  /** Runs `route-test`. Returns the line with the outcome, the next steps below it, and the exit status. */
  async routeTest(
    ...options: readonly string[]
  ): Promise<{ code: number | null; text: string; next: readonly string[] }> {
    const { code, lines } = await this.trunkline('route-test', ...options)
    const at = lines.findIndex((line) => /^(admitted|refused|dropped|answered)/.test(line))
    const next = lines.slice(at + 1).filter((line) => line.startsWith('  '))
    return { code, text: lines[at] ?? '', next: next.map((line) => line.trim()) }
  }

  /** Runs a command with the configuration file as its last argument. */
  async trunkline(
    name: string,
    ...options: readonly string[]
  ): Promise<{ code: number | null; lines: readonly string[] }> {
    const program = new Program(command, [name, ...options, this.#file], { cwd: root })
    const code = await program.end()
    return { code, lines: program.lines }
  }

  /** Rewrites the configuration file without a reload. */
  configure(change: (config: WrittenConfig) => object): void {
    const config = JSON.parse(readFileSync(this.#file, 'utf8')) as WrittenConfig
    writeFileSync(this.#file, JSON.stringify(change(config), null, 2))
  }

  /** Runs a command of `trunkline` with the gateway's file. Returns its exit status and its output. */
  async command(...words: readonly string[]): Promise<{ code: number | null; text: string }> {
    const program = new Program(command, [...words, this.#file], { cwd: root })
    const code = await program.end()
    return { code, text: program.lines.join('\n') }
  }

  /** Runs `trunkline reload`, which prints JSON. */
  async reloadCommand(...options: readonly string[]): Promise<{ code: number | null; body: ReloadBody }> {
    const program = new Program(command, ['reload', '--json', ...options, this.#file], { cwd: root })
    const code = await program.end()
    return { code, body: JSON.parse(program.lines.join('\n')) as ReloadBody }
  }

  /** Reloads configuration and certificates by SIGHUP. */
  reload(): void {
    this.#program.signal('SIGHUP')
  }

  /** Sends SIGINT to all processes of the gateway, as Ctrl+C in a terminal does. */
  interrupt(): void {
    this.#program.signalGroup('SIGINT')
  }

  /** Sends SIGTERM, as a service manager does, and returns at once. */
  terminate(): void {
    this.#program.signal('SIGTERM')
  }

  /** Waits until the process ends by itself, and returns its exit code. */
  ended(): Promise<number | null> {
    return this.#program.end()
  }

  /** Ends the gateway and removes its files. Idempotent. */
  async stop(): Promise<void> {
    await this.#program.stop(10_000)
    await this.#server?.stop()
    this.#rtp.release()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  /** SIP port of a drachtio-server, which the server reports when the gateway connects. */
  #portOfServer(): number {
    const line = this.log.find(({ msg }) => msg === 'SIP agent: connected')
    const listens = (line?.listens ?? []) as readonly string[]
    const port = /:(\d+)$/.exec(listens.find((entry) => entry.startsWith('udp/')) ?? '')?.[1]
    if (port === undefined) throw new Error(`the drachtio-server does not listen for UDP: ${listens}`)
    return Number(port)
  }

  async #isReady(): Promise<boolean> {
    if (this.#program.exitCode !== undefined)
      throw new Error(`the gateway ended with ${this.#program.exitCode}`)
    return fetch(`${this.url}/readyz`).then(
      (answer) => answer.ok,
      () => false,
    )
  }
}

interface GatewayProcess {
  readonly server: DrachtioServer | undefined
  readonly authorization: string
  readonly env: NodeJS.ProcessEnv
}

interface Ports {
  readonly sip: number
  readonly http: number
  readonly tls: number
  readonly wss: number
  readonly sips: number
  readonly webrtc: number
  /** Ports that are released when the gateway has ended. */
  readonly rtp: LeasedRange
}

const listenersOf = ({ endpoints, sips, ipv6 }: GatewayOptions, ports: Ports): object[] => [
  ...['127.0.0.1', ...(ipv6 ? ['::1'] : [])].flatMap((address) =>
    ['udp', 'tcp'].map((transport) => ({ transport, address, port: ports.sip })),
  ),
  ...(endpoints ? [{ transport: 'wss', address: '127.0.0.1', port: ports.wss }] : []),
  ...(sips ? [{ transport: 'tls', address: '127.0.0.1', port: ports.sips }] : []),
]

/** Certificate of the test run; undefined in benchmarks, where each gateway creates its own. */
const certificateOfTheRun = (): CertificateFiles | undefined =>
  process.env.VITEST ? inject('certificate') : undefined

const configOf = (options: GatewayOptions, ports: Ports, server: DrachtioServer | undefined): object => ({
  dataDir: options.dataDir ?? './data',
  drain: options.drain ?? '1s',
  // The carriers of all scenarios are on this machine.
  sip: {
    listen: listenersOf(options, ports),
    dialNetworks: ['127.0.0.0/8', '::1/128'],
    // The machine may be busy with other tests.
    overload: { busyPercent: 100 },
    ...(server && { drachtio: { host: server.host, port: server.port, secret: server.secret } }),
    ...options.sip,
  },
  media: {
    rtp: {
      bind: options.ipv6 ? ['127.0.0.1', '::1'] : '127.0.0.1',
      ports: { from: ports.rtp.from, to: ports.rtp.to },
    },
    webrtc: { bind: '127.0.0.1', port: ports.webrtc, ...(options.turn && { turn: options.turn }) },
    ...options.media,
  },
  http: {
    plain: { address: '127.0.0.1', port: ports.http },
    tls: {
      address: '127.0.0.1',
      port: ports.tls,
      hosts: ['gw.localhost', 'fabric.localhost'],
      ...(options.certificate ?? certificateOfTheRun()),
    },
    apiToken,
    ...options.http,
  },
  limits: {
    documentNetworks: ['127.0.0.0/8'],
    // The callers of all scenarios share one address.
    strangers: { maxCallsOfSource: 200, callsPerSecondOfSource: 100 },
    ...options.limits,
  },
  domains: options.domains ?? [],
  subscribers: options.subscribers ?? [{ ...alice, displayName: 'Alice', mayDialOut: true }],
  resources: options.resources ?? [],
  ...(options.endpoints && { endpoints: options.endpoints }),
  ...(options.carriers && { carriers: options.carriers }),
  ...(options.webhooks && { webhooks: options.webhooks }),
  ...(options.agents && { agents: options.agents }),
  ...(options.push && { push: options.push }),
  ...(options.oauth && { oauth: { url: `https://gw.localhost:${ports.tls}`, ...options.oauth } }),
  ...(options.projects && { projects: options.projects }),
  ...(options.envs && { envs: options.envs }),
})

/** Waits until the last session change of a far side holds the call, or resumes it. */
export const renegotiated = async (gateway: Gateway, { held }: { held: boolean }): Promise<void> => {
  const last = (): LogLine | undefined => gateway.log.findLast(({ msg }) => msg === 'session renegotiated')
  await until(
    `the far side ${held ? 'holds' : 'does not hold'}`,
    () => last()?.held,
    (found) => found === held,
  )
}
