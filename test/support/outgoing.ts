import { freePort } from '../../media/testing/free-ports.ts'
import type { SipAgent } from './agents.ts'
import { application, script, scripted } from './applications.ts'
import { Carrier, type IncomingOptions } from './carrier.ts'
import { DocumentServer } from './documents.ts'
import { Gateway, type GatewayOptions, type LogLine } from './gateway.ts'

/** Configuration of a carrier without its targets. */
export interface CarrierRules {
  /** Number of targets; default 1. */
  readonly targets?: number
  readonly [key: string]: unknown
}

/**
 * A gateway between a caller and carriers. It connects callers of `through.test` to a carrier, and answers
 * those of `talk.test` itself.
 */
export class OutgoingGateway {
  readonly gateway: Gateway
  readonly #documents: DocumentServer
  readonly #ports: ReadonlyMap<string, readonly number[]>
  /** Parameters of the `connect` of the next call. */
  connect: Readonly<Record<string, unknown>> = {}
  /** Steps before the `connect` of the next call. */
  before: readonly unknown[] = []

  constructor(gateway: Gateway, documents: DocumentServer, ports: ReadonlyMap<string, readonly number[]>) {
    this.gateway = gateway
    this.#documents = documents
    this.#ports = ports
  }

  /**
   * Starts a gateway with these carriers, whose targets are free ports. Numbers go to the carrier with
   * `default`. `before` receives a function for the carriers' ports, to open listeners before the gateway
   * starts.
   */
  static async start(
    agent: SipAgent,
    carriers: Readonly<Record<string, CarrierRules>>,
    more: Pick<GatewayOptions, 'resources' | 'endpoints' | 'sip' | 'http'> = {},
    before: (portOf: (name: string) => number) => Promise<unknown> = async () => {},
  ): Promise<OutgoingGateway> {
    const documents = await DocumentServer.open()
    const ports = new Map<string, readonly number[]>()
    for (const [name, { targets = 1 }] of Object.entries(carriers)) {
      const free: number[] = []
      for (let i = 0; i < targets; i++) free.push(await freePort())
      ports.set(name, free)
    }
    await before((name) => ports.get(name)?.[0] ?? 0)
    const url = documents.put('/through', () =>
      JSON.stringify(
        script(...outgoing.before, { connect: { answer_on_bridge: true, ...outgoing.connect } }),
      ),
    )
    const gateway = await Gateway.start({
      ...more,
      agent,
      domains: [
        application('through.test', { kind: 'script', url }),
        application('talk.test', scripted('answer', { sleep: -1 })),
      ],
      carriers: Object.entries(carriers).map(([name, rules]) => ({
        ...rules,
        name,
        targets: ports.get(name)?.map((port) => `sip:127.0.0.1:${port}`),
      })),
    })
    const outgoing = new OutgoingGateway(gateway, documents, ports)
    return outgoing
  }

  /** Returns the port of a carrier's target. */
  portOf(name: string, index = 0): number {
    return this.#ports.get(name)?.[index] ?? 0
  }

  /** Starts SIPp at the port of a carrier's target. */
  target(
    name: string,
    scenario: string,
    options: Omit<Parameters<typeof Carrier.listens>[0], 'scenario' | 'port'> & {
      readonly index?: number
    } = {},
  ): Promise<Carrier> {
    return Carrier.listens({ ...options, scenario, port: this.portOf(name, options.index) })
  }

  /** Calls through the gateway to a number of the carrier. */
  call(name: string, scenario: string, options: Partial<IncomingOptions> = {}): Promise<Carrier> {
    this.connect = { to: `sip:+15557778888@127.0.0.1:${this.portOf(name)}`, ...this.connect }
    return Carrier.calls(this.gateway, { domain: 'through.test', scenario, ...options })
  }

  /**
   * Waits for the end of all calls, with every gauge at zero. Returns the record of the first caller's call.
   */
  async ended(caller: Carrier, ...others: readonly Carrier[]): Promise<LogLine> {
    for (const carrier of [caller, ...others]) await carrier.done()
    await this.gateway.settled()
    this.connect = {}
    this.before = []
    return this.gateway.record(caller.callId)
  }

  async stop(): Promise<void> {
    await this.gateway.stop()
    await this.#documents.close()
  }
}
