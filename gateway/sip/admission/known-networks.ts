import { ipv4PrefixBits, requirePrefix } from '@trunkline/sip-agent/networks'

/** Lists of networks that may send calls. */
export interface NetworkLists {
  readonly domains: readonly NetworkList[]
  readonly carriers: readonly NetworkList[]
}

/** List of one domain or carrier. */
export interface NetworkList {
  /** Project that it belongs to; undefined: every project. */
  readonly project?: string | undefined
  readonly allow?: readonly string[] | undefined
  /** Made over the API by a customer, not declared in the file. */
  readonly guarded?: boolean
}

/** Networks that are known by their address. */
export interface KnownNetworks {
  /** Lists of the configuration file: known to every project. */
  readonly ofFile: readonly string[]
  /**
   * Lists made over the API, within {@link maxEntries} and {@link maxSenders}: known to their own project.
   */
  readonly ofProjects: ReadonlyMap<string, readonly string[]>
}

/** Maximum number of networks that one project makes known over the API. */
export const maxEntries = 1_000
/** Maximum number of senders in them: IPv4 addresses and IPv6 /64 networks. */
export const maxSenders = 65_536

/**
 * Returns the known networks. The API lists of a project count up to a bound, the narrowest networks first. A
 * customer that lists half the internet must not make half the internet known.
 */
export const knownNetworks = ({ domains, carriers }: NetworkLists): KnownNetworks => {
  const ofFile = new Set<string>()
  const byProject = new Map<string, Set<string>>()
  for (const { allow = [], guarded, project = '' } of [...domains, ...carriers]) {
    const own = guarded ? (byProject.get(project) ?? new Set<string>()) : ofFile
    if (guarded) byProject.set(project, own)
    for (const network of allow) own.add(network)
  }
  const ofProjects = new Map<string, readonly string[]>()
  for (const [project, networks] of byProject) ofProjects.set(project, bounded(networks))
  return { ofFile: [...ofFile], ofProjects }
}

/**
 * All known networks, each once: for the shield, which sees packets before it can see whose call they mean.
 */
export const allNetworks = ({ ofFile, ofProjects }: KnownNetworks): string[] => [
  ...new Set([ofFile, ...ofProjects.values()].flat()),
]

/** Those that fit within the bounds, the narrowest ones first. Linear: a customer may list very many. */
const bounded = (networks: Iterable<string>): string[] => {
  const bySize: string[][] = []
  for (const network of networks) {
    const size = sizeOf(network)
    bySize[size] ??= []
    bySize[size].push(network)
  }
  const taken: string[] = []
  let senders = 0
  for (const [size, ofSize] of bySize.entries()) {
    const each = 2 ** size
    for (const network of ofSize ?? []) {
      if (taken.length >= maxEntries || senders + each > maxSenders) return taken
      taken.push(network)
      senders += each
    }
  }
  return taken
}

/** Binary logarithm of the number of senders in a network. */
const sizeOf = (network: string): number => {
  // Nearly all of them; there may be very many.
  if (!network.includes(':')) return 32 - Number(network.split('/')[1] ?? 32)
  const prefix = requirePrefix(network)
  const bits = ipv4PrefixBits(prefix)
  // IPv4 can also be written as a part of IPv6.
  return bits === undefined ? Math.max(0, 64 - prefix.bits) : 32 - bits
}
