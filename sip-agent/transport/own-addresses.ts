import { isIP, isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { Clock } from '../clock.ts'
import { plainAddress } from '../ip/address.ts'
import { Networks } from '../ip/networks.ts'
import { isLoopback } from '../ip/special-purpose.ts'
import type { Endpoint, Protocol } from './types.ts'

const any = new Set(['0.0.0.0', '::'])
/** Time in ms for which the list of this machine's addresses is cached. */
const cacheMs = 60_000

/** Addresses at which peers reach the agent, and the agent's own addresses. */
export class OwnAddresses {
  readonly #announce: string | undefined
  readonly #announceTo: readonly { readonly networks: Networks; readonly address: string }[]
  readonly #announced: ReadonlySet<string>
  readonly #clock: Clock
  #machine: MachineAddresses | undefined

  /** Throws for a text that is not a network. */
  constructor(
    clock: Clock,
    announce: string | undefined,
    announceTo: readonly { readonly networks: readonly string[]; readonly address: string }[] = [],
  ) {
    this.#clock = clock
    this.#announce = announce
    this.#announceTo = announceTo.map(({ networks, address }) => ({
      networks: new Networks(networks),
      address,
    }))
    this.#announced = new Set([...(announce ? [announce] : []), ...announceTo.map(({ address }) => address)])
  }

  /**
   * Returns the host at which a peer at `remote` should reach `local`. Without `remote`, returns the host for
   * peers in general.
   */
  hostFor(local: Endpoint, remote?: string): string {
    // An address of the other family would belong to another listener, or to none.
    const fits = (address: string) => isIP(address) === 0 || isIPv6(address) === isIPv6(local.address)
    const peer = remote && plainAddress(remote)
    const near = peer && this.#announceTo.find(({ networks, address }) => fits(address) && networks.has(peer))
    if (near) return near.address
    if (peer && isLoopback(peer) && any.has(local.address)) return isIPv6(local.address) ? '::1' : '127.0.0.1'
    if (this.#announce && fits(this.#announce)) return this.#announce
    if (!any.has(local.address)) return local.address
    const machine = this.#machineAddresses()
    return isIPv6(local.address) ? machine.six : machine.four
  }

  /** Returns whether host and port lead to one of these bound addresses. */
  isOwn(bound: readonly Endpoint[], protocol: Protocol, host: string, port: number): boolean {
    return bound.some(
      (own) =>
        own.protocol === protocol &&
        own.port === port &&
        (own.address === host || this.#announced.has(host) || this.#isHere(own.address, host)),
    )
  }

  /** Returns whether a listener on all addresses includes this address. */
  #isHere(bound: string, host: string): boolean {
    if (!any.has(bound) || isIPv6(bound) !== isIPv6(host)) return false
    return isLoopback(host) || this.#machineAddresses().all.has(host)
  }

  /**
   * Returns this machine's addresses from a cache: the system call takes longer than the rest of a request's
   * handling.
   */
  #machineAddresses(): MachineAddresses {
    const now = this.#clock.now()
    if (!this.#machine || this.#machine.until <= now) this.#machine = readMachine(now + cacheMs)
    return this.#machine
  }
}

/** Addresses of this machine: all, and the first of each family that other machines can reach. */
interface MachineAddresses {
  readonly all: ReadonlySet<string>
  readonly four: string
  readonly six: string
  readonly until: number
}

const readMachine = (until: number): MachineAddresses => {
  const list = Object.values(networkInterfaces()).flatMap((each) => each ?? [])
  const outside = list.filter(({ internal, address }) => !internal && !address.startsWith('fe80'))
  const first = (family: string) => outside.find((each) => each.family === family)?.address
  return {
    all: new Set(list.map(({ address }) => address)),
    four: first('IPv4') ?? '127.0.0.1',
    six: first('IPv6') ?? '::1',
    until,
  }
}
