import { networkInterfaces } from 'node:os'
import type { Interfaces } from '../edge/options.ts'

/** A local address that mediasoup binds, and the address in its candidate if different. */
export interface Listen {
  readonly ip: string
  readonly announced?: string
}

/** Local ICE host candidate (RFC 8839 section 5.1), component 1. */
export interface Candidate {
  readonly foundation: string
  readonly protocol: 'udp' | 'tcp'
  /** Priority by RFC 8445 section 5.1.2. */
  readonly priority: number
  /** IP address or host name. */
  readonly address: string
  readonly port: number
}

/**
 * Returns the addresses to bind and to announce. An explicit `announce` list is used unchanged, with one
 * socket on `bind`. Otherwise `bind` is announced. For 0.0.0.0 it is every IPv4 address of the machine, with
 * a socket each. One socket for all would answer from the address that the route selects, which ICE rejects.
 */
export const listenAddresses = (
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

// Link-local addresses are omitted: they are unreachable from elsewhere, and each costs a connectivity check.
const localAddresses = (interfaces: Interfaces): string[] => {
  const found = Object.values(interfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter((a) => a.family === 'IPv4' && !a.internal && !a.address.startsWith('169.254.'))
    .map((a) => a.address)
  return [...new Set(found), '127.0.0.1']
}

/** Returns the candidates of all addresses, UDP before TCP, in the given order. */
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

// The type preference of a host candidate is 126; TCP goes below UDP as RFC 6544 section 4.2 recommends.
const priorityOf = (protocol: 'udp' | 'tcp', index: number): number => {
  const typePreference = protocol === 'udp' ? 126 : 90
  const localPreference = Math.max(0, 65_535 - index)
  return typePreference * 2 ** 24 + localPreference * 2 ** 8 + 255
}
