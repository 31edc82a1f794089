import { isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { Clock } from '../../clock.ts'
import type { Limits } from '../message/limits.ts'
import type { Hop } from '../route/types.ts'
import { TcpTransport } from './tcp.ts'
import {
  type Endpoint,
  type Flow,
  type Gatekeeper,
  openGate,
  type Protocol,
  type TransportSink,
} from './types.ts'
import { UdpTransport } from './udp.ts'

type Bound = UdpTransport | TcpTransport

const any = new Set(['0.0.0.0', '::'])
const isLoopback = (address: string) => address.startsWith('127.') || address === '::1'

/** The first address of this machine that others could reach; loopback where there is none. */
const machineAddress = (six: boolean): string => {
  for (const list of Object.values(networkInterfaces())) {
    for (const each of list ?? []) {
      if (!each.internal && (each.family === 'IPv6') === six && !each.address.startsWith('fe80'))
        return each.address
    }
  }
  return six ? '::1' : '127.0.0.1'
}

/** All bound transports. */
export class Transports {
  readonly #bound: Bound[] = []
  readonly #sink: TransportSink
  readonly #limits: Limits
  readonly #clock: Clock
  readonly #maxConnections: number
  readonly #announce: string | undefined
  readonly #gate: Gatekeeper
  #closing = false

  constructor(options: {
    sink: TransportSink
    limits: Limits
    clock: Clock
    /** Open TCP connections per listener; more are refused, and more than a quarter from one address. */
    maxConnections: number
    /** The address that peers are told, in place of the bound one. */
    announce?: string
    /** Asked before anything is parsed; default {@link openGate}. */
    gatekeeper?: Gatekeeper
  }) {
    this.#sink = options.sink
    this.#limits = options.limits
    this.#clock = options.clock
    this.#maxConnections = options.maxConnections
    this.#announce = options.announce
    this.#gate = options.gatekeeper ?? openGate
  }

  /** Binds one more address; rejects with an error that says which one. */
  async open(listen: { transport: Protocol; address: string; port: number }): Promise<void> {
    const { transport, address, port } = listen
    const bound =
      transport === 'udp'
        ? new UdpTransport(address, this.#sink, this.#limits, this.#gate)
        : new TcpTransport(this.#sink, this.#limits, this.#clock, this.#maxConnections, this.#gate)
    try {
      await bound.open(address, port)
    } catch (error) {
      throw new Error(`cannot bind ${transport} ${address}:${port}: ${(error as Error).message}`, {
        cause: error,
      })
    }
    this.#bound.push(bound)
  }

  /** The bound addresses. */
  get addresses(): Endpoint[] {
    return this.#bound.map((each) => each.local)
  }

  /** Open TCP connections. */
  get connections(): number {
    return this.#bound.reduce((sum, each) => sum + (each instanceof TcpTransport ? each.connections : 0), 0)
  }

  /** True where this is one of the agent's own addresses. */
  isOwn(protocol: Protocol, host: string, port: number): boolean {
    return this.addresses.some(
      (own) =>
        own.protocol === protocol &&
        own.port === port &&
        (own.address === host || host === this.#announce || (any.has(own.address) && isLoopback(host))),
    )
  }

  /** True where a transport of this protocol is bound; of this family too, where one is given. */
  reaches(protocol: Protocol, family?: 4 | 6): boolean {
    return this.#bound.some(
      ({ local }) => local.protocol === protocol && (!family || isIPv6(local.address) === (family === 6)),
    )
  }

  /** The way to a destination; undefined where no transport of that protocol and family is bound. */
  flow({ protocol, address, port }: Hop): Flow | undefined {
    if (this.#closing) return undefined
    this.#gate.meets?.(address)
    const six = isIPv6(address)
    const fitting = this.#bound.filter(
      (each) => each.local.protocol === protocol && isIPv6(each.local.address) === six,
    )
    // A loopback socket cannot reach the world, so it is the last choice for what is not loopback, and the first for what is.
    const best = fitting.find((each) => isLoopback(each.local.address) === isLoopback(address)) ?? fitting[0]
    return best?.flow(address, port)
  }

  /** The address that a peer at `remote` should use to reach `local`. */
  ownHost(local: Endpoint, remote?: string): string {
    if (remote && isLoopback(remote) && any.has(local.address))
      return isIPv6(local.address) ? '::1' : '127.0.0.1'
    if (this.#announce) return this.#announce
    return any.has(local.address) ? machineAddress(isIPv6(local.address)) : local.address
  }

  /** Closes every transport. */
  async close(): Promise<void> {
    if (this.#closing) return
    this.#closing = true
    await Promise.all(this.#bound.map((each) => each.close()))
  }
}
