import { networkInterfaces } from 'node:os'

/** A local address that mediasoup binds, and the address that stands in its candidate when that is another one. */
export interface Listen {
  readonly ip: string
  readonly announced?: string
}

/** An ICE host candidate of ours (RFC 8839 section 5.1), component 1. */
export interface Candidate {
  readonly foundation: string
  readonly protocol: 'udp' | 'tcp'
  /** RFC 8445 section 5.1.2. */
  readonly priority: number
  /** An address, or a host name. */
  readonly address: string
  readonly port: number
}

/** The machine's addresses, as `os.networkInterfaces` tells them. */
export type Interfaces = () => ReturnType<typeof networkInterfaces>

/**
 * What to bind and what to announce. An explicit `announce` list is used as it is, over one socket on `bind`. Without one it is
 * `bind` itself, or, where that is 0.0.0.0, every IPv4 address of the machine with a socket each: one socket for all of them
 * would answer from whichever address the route prefers, which ICE refuses.
 */
export const addressing = (
  bind: string,
  announce: readonly string[],
  interfaces: Interfaces = networkInterfaces,
): { readonly listen: readonly Listen[]; readonly addresses: readonly string[] } => {
  const first = announce[0]
  if (first !== undefined) {
    return { listen: [first === bind ? { ip: bind } : { ip: bind, announced: first }], addresses: announce }
  }
  const addresses = bind === '0.0.0.0' ? localAddresses(interfaces) : [bind]
  return { listen: addresses.map((ip) => ({ ip })), addresses }
}

// Link-local addresses are left out: nobody beyond the link reaches them, and each costs a browser a check.
const localAddresses = (interfaces: Interfaces): string[] => {
  const found = Object.values(interfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter((a) => a.family === 'IPv4' && !a.internal && !a.address.startsWith('169.254.'))
    .map((a) => a.address)
  return [...new Set(found), '127.0.0.1']
}

/** Candidates for every address, UDP before TCP, in the order given. */
export const candidatesOf = (addresses: readonly string[], port: number): readonly Candidate[] =>
  (['udp', 'tcp'] as const).flatMap((protocol) =>
    addresses.map((address, index) => ({
      foundation: `${protocol}${index + 1}`,
      protocol,
      priority: priorityOf(protocol, index),
      address,
      port,
    })),
  )

// Type preference of a host candidate is 126; TCP goes below UDP as RFC 6544 section 4.2 recommends.
const priorityOf = (protocol: 'udp' | 'tcp', index: number): number => {
  const typePreference = protocol === 'udp' ? 126 : 90
  const localPreference = Math.max(0, 65_535 - index)
  return typePreference * 2 ** 24 + localPreference * 2 ** 8 + 255
}
