import { ipv4PrefixBits, requirePrefix } from '@trunkline/sip-agent/networks'

/** Lists of networks that may send calls. */
export interface NetworkLists {
  readonly domains: readonly NetworkList[]
  readonly carriers: readonly NetworkList[]
}

/** List of one domain or carrier. */
export interface NetworkList {
  /** Project that the domain or carrier belongs to; undefined: every project. */
  readonly project?: string | undefined
  readonly allow?: readonly string[] | undefined
  /** The domain or carrier was made by a customer over the API, and is not in the configuration file. */
  readonly guarded?: boolean
}

/** Networks whose callers are known by their source address. */
export interface KnownNetworks {
  /** Lists of the configuration file: known to every project. */
  readonly ofFile: readonly string[]
  /**
   * Lists made over the API, within {@link maxEntries} and {@link maxSenders}: known to their own project.
   */
  readonly ofProjects: ReadonlyMap<string, readonly string[]>
}

/** Maximum number of networks that one project can make known over the API. */
export const maxEntries = 1_000
/** Maximum number of senders in the networks of one project: IPv4 addresses and IPv6 /64 networks. */
export const maxSenders = 65_536

/**
 * Returns the known networks. The API lists of a project count up to a limit, the narrowest networks first.
 * Otherwise a customer could make large parts of the internet known.
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
 * Returns all known networks, each once, for the shield. The shield filters packets before parsing, and so
 * before their project is known.
 */
export const allNetworks = ({ ofFile, ofProjects }: KnownNetworks): string[] => [
  ...new Set([ofFile, ...ofProjects.values()].flat()),
]

/**
 * Returns the networks that fit within the limits, the narrowest ones first. The time is linear, as a
 * customer may list very many networks.
 */
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
  // Fast path for IPv4, as lists may be very long.
  if (!network.includes(':')) return 32 - Number(network.split('/')[1] ?? 32)
  const prefix = requirePrefix(network)
  const bits = ipv4PrefixBits(prefix)
  // IPv4 can also be written as a part of IPv6.
  return bits === undefined ? Math.max(0, 64 - prefix.bits) : 32 - bits
}
