import { isIP, isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { Clock } from '../clock.ts'
import { Networks } from '../networks.ts'
import { plainAddress } from '../shield/addresses.ts'
import type { Endpoint, Protocol } from './types.ts'

const any = new Set(['0.0.0.0', '::'])
/** How long the list of this machine's addresses is taken to be true, in ms. */
const cacheMs = 60_000

/** True for an address of this machine that no other can reach. */
export const isLoopback = (address: string): boolean => address.startsWith('127.') || address === '::1'

/** How peers are told where to reach the agent, and which addresses are its own. */
export class OwnAddresses {
  readonly #announce: string | undefined
  readonly #announceTo: readonly { readonly networks: Networks; readonly address: string }[]
  readonly #announced: ReadonlySet<string>
  readonly #clock: Clock
  #machine: MachineAddresses | undefined

  /** Throws where one of the networks is none. */
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

  /** The host that a peer at `remote` should use to reach `local`; what is said in general without a peer. */
  hostFor(local: Endpoint, remote?: string): string {
    // An address of the other family would lead the peer to another listener, or to none.
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

  /** True where this leads to one of these bound addresses. */
  isOwn(bound: readonly Endpoint[], protocol: Protocol, host: string, port: number): boolean {
    return bound.some(
      (own) =>
        own.protocol === protocol &&
        own.port === port &&
        (own.address === host || this.#announced.has(host) || this.#isHere(own.address, host)),
    )
  }

  /** True where a listener on all addresses is reached by this one too. */
  #isHere(bound: string, host: string): boolean {
    if (!any.has(bound) || isIPv6(bound) !== isIPv6(host)) return false
    return isLoopback(host) || this.#machineAddresses().all.has(host)
  }

  /** Kept for a while: asking the system takes longer than all else that is done for a request. */
  #machineAddresses(): MachineAddresses {
    const now = this.#clock.now()
    if (!this.#machine || this.#machine.until <= now) this.#machine = readMachine(now + cacheMs)
    return this.#machine
  }
}

/** The addresses of this machine: all, and the first of each family that others could reach. */
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
