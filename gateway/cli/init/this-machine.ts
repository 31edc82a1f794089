import { createSocket } from 'node:dgram'
import { createServer } from 'node:net'
import { networkInterfaces } from 'node:os'

/** Returns the IP addresses of this machine's interfaces. */
export const localAddresses = (): readonly string[] =>
  Object.values(networkInterfaces()).flatMap((addresses) => (addresses ?? []).map(({ address }) => address))

/** Returns the first IPv4 address that other machines may reach; without one, 127.0.0.1. */
export const ownAddress = (): string =>
  Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1'

/** Transport of a port. */
export type PortKind = 'udp' | 'tcp'

/** Maximum number of ports to try after the usual one. */
const maxTries = 50

/**
 * Resolves with the first port from `first` on that is free for every kind. Throws if all tried ports are in
 * use.
 */
export const freePort = async (first: number, kinds: readonly PortKind[]): Promise<number> => {
  for (let port = first; port < first + maxTries; port++) {
    const free = await Promise.all(kinds.map((kind) => (kind === 'udp' ? isUdpFree(port) : isTcpFree(port))))
    if (free.every(Boolean)) return port
  }
  throw new Error(`No port from ${first} to ${first + maxTries - 1} is free.`)
}

const isUdpFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = createSocket('udp4')
    socket.once('error', () => resolve(false))
    socket.bind(port, () => socket.close(() => resolve(true)))
  })

const isTcpFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '0.0.0.0', () => server.close(() => resolve(true)))
  })
