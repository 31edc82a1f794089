import { BlockList, isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { MediaClock } from '../clock.ts'
import type { IpFamily } from '../types.ts'
import { EdgeError } from './errors.ts'
import type { ThreadPriority } from './realtime.ts'
import type { SocketKind } from './sockets-open.ts'

/** Options of the edge. Times in ms. */
export interface EdgeOptions {
  /**
   * Local address of carrier ports, or one per IP family; see {@link localAddresses}. `0.0.0.0` means every
   * IPv4 address of the machine, `::` every IPv6 address.
   */
  readonly bind: string | readonly string[]
  /**
   * Address in the local SDP, or one per bound IP family. Default for a family: its address in `bind`, or the
   * machine's own if that is unspecified.
   */
  readonly announce?: string | readonly string[]
  /** Range of RTP ports, inclusive. */
  readonly ports: { readonly from: number; readonly to: number }
  /** Number of worker threads, 1 or more; each has its part of the range. */
  readonly threads: number
  readonly startTimeoutMs: number
  readonly mediaTimeoutMs: number
  /** Time that a closed port stays in quarantine; default 30,000. */
  readonly quarantineMs?: number
  /** Default `native` if its addon can be loaded. */
  readonly sockets?: SocketKind
  /** Whether each thread tries to get real-time priority; default false. */
  readonly isRealtime?: boolean
  /** Called with the result of each thread that tried, also of one that replaces a dead thread. */
  readonly onPriority?: (priority: ThreadPriority) => void
  /** Default {@link systemClock}. */
  readonly clock?: MediaClock
}

/** Addresses of one IP family. */
export interface LocalAddress {
  readonly family: IpFamily
  readonly bind: string
  /** Address in the local SDP. */
  readonly announce: string
}

/** Validates the options. Throws an {@link EdgeError} of `code` `bad_options` with a description. */
export function checkOptions({ bind, announce, ports, threads }: EdgeOptions): void {
  const bound = checkAddresses('bind', listOf(bind))
  if (bound.length === 0) fail('bind: expected an IP address, or one of each family')
  const announced = checkAddresses('announce', listOf(announce))
  const foreign = announced.find((family) => !bound.includes(family))
  if (foreign) fail(`announce: has an IPv${foreign} address, but bind has none`)
  if (!Number.isInteger(threads) || threads < 1) fail(`threads: expected 1 or more, got ${threads}`)
  const { from, to } = ports
  if (!(from >= 1 && to <= 65535 && from < to))
    fail(`ports: expected a range of 1 to 65535, got ${from} to ${to}`)
}

/**
 * Returns the addresses to bind and to announce, one per IP family, in the order of `bind`. An unspecified
 * address is omitted if no address is announced for it and the machine has none of its family. At least the
 * first address is always returned.
 */
export function localAddresses(
  { bind, announce }: Pick<EdgeOptions, 'bind' | 'announce'>,
  interfaces: Interfaces = networkInterfaces,
): readonly LocalAddress[] {
  const announced = new Map(listOf(announce).map((address) => [familyOf(address), address]))
  const all = listOf(bind).map((address) => {
    const family = familyOf(address)
    const own = announced.get(family) ?? (isUnspecific(address) ? ownAddress(family, interfaces) : address)
    return { family, bind: address, own }
  })
  const usable = all.filter(({ own }) => own !== undefined)
  return (usable.length > 0 ? usable : all.slice(0, 1)).map(({ family, bind, own }) => ({
    family,
    bind,
    // A machine without a network can still serve itself over loopback.
    announce: own ?? (family === 6 ? '::1' : '127.0.0.1'),
  }))
}

/**
 * Whether packets to that address reach this machine: it is announced, bound, loopback, or one of the
 * machine's own.
 */
export function isOwnAddress(
  address: string,
  own: readonly LocalAddress[],
  interfaces: Interfaces = networkInterfaces,
): boolean {
  const list = new BlockList()
  const machine = Object.values(interfaces()).flatMap((entries) => entries ?? [])
  for (const each of [
    ...machine.map((entry) => entry.address),
    ...own.flatMap(({ bind, announce }) => [bind, announce]),
  ])
    list.addAddress(withoutZone(each), `ipv${familyOf(each)}`)
  list.addSubnet('127.0.0.0', 8, 'ipv4')
  return list.check(withoutZone(address), `ipv${familyOf(address)}`)
}

/** Returns the machine's addresses, as `os.networkInterfaces` does. */
export type Interfaces = () => ReturnType<typeof networkInterfaces>

const withoutZone = (address: string): string => address.split('%', 1)[0] ?? ''

/** Returns the IP family of an address literal. */
export const familyOf = (address: string): IpFamily => (isIP(address) === 6 ? 6 : 4)

const listOf = (value: string | readonly string[] | undefined): readonly string[] =>
  value === undefined ? [] : typeof value === 'string' ? [value] : value

const fail = (message: string): never => {
  throw new EdgeError('bad_options', message)
}

/** Returns the families of the addresses. */
function checkAddresses(name: string, addresses: readonly string[]): readonly IpFamily[] {
  const wrong = addresses.find((address) => isIP(address) === 0)
  if (wrong !== undefined) fail(`${name}: expected an IP address, got ${JSON.stringify(wrong)}`)
  const families = addresses.map(familyOf)
  if (new Set(families).size < families.length) fail(`${name}: expected one address of each IP family`)
  return families
}

const isUnspecific = (address: string): boolean => address === '0.0.0.0' || address === '::'

/**
 * Returns the machine's address of that family; undefined if it has none. Prefers a global address to one of
 * a private network (RFC 4193).
 */
function ownAddress(family: IpFamily, interfaces: Interfaces): string | undefined {
  const own = Object.values(interfaces())
    .flatMap((list) => list ?? [])
    .filter((entry) => !entry.internal && entry.family === `IPv${family}`)
    // A link-local address is only valid on its link.
    .map(({ address }) => address)
    .filter((address) => family === 4 || !/^fe[89ab]/i.test(address))
  return own.find((address) => family === 4 || !/^f[cd]/i.test(address)) ?? own[0]
}
