import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { isIPv6 } from 'node:net'

/** Called for every datagram. */
export type OnPacket = (packet: Buffer, address: string, port: number) => void

/** One bound UDP socket. */
export interface PortSocket {
  readonly port: number
  send(packet: Buffer, offset: number, length: number, port: number, address: string): void
  close(): Promise<void>
}

/** Binds UDP sockets; tests pass their own. */
export type BindSocket = (address: string, port: number, onPacket: OnPacket) => Promise<PortSocket>

/** Binds a socket of Node. Rejects with the system's error, for instance EADDRINUSE. */
export const bindUdp: BindSocket = (address, port, onPacket) => {
  const v6 = isIPv6(address)
  const socket = createSocket({
    type: v6 ? 'udp6' : 'udp4',
    ipv6Only: v6,
    // Addresses here are always literals of this family. The default lookup would use the resolver for every
    // packet.
    lookup: (literal, _options, callback) => callback(null, literal, v6 ? 6 : 4),
  })
  return new Promise((resolve, reject) => {
    socket.once('error', (error) => {
      socket.close()
      reject(error)
    })
    socket.bind({ address, port, exclusive: true }, () => {
      socket.removeAllListeners('error')
      // A packet that cannot be sent now (no route, full queue) is a lost packet; time-outs detect lasting
      // failures.
      socket.on('error', () => {})
      socket.on('message', (packet: Buffer, from: RemoteInfo) => onPacket(packet, from.address, from.port))
      resolve(wrap(socket))
    })
  })
}

function wrap(socket: Socket): PortSocket {
  let closing: Promise<void> | undefined
  return {
    port: socket.address().port,
    send(packet, offset, length, port, address) {
      if (!closing) socket.send(packet, offset, length, port, address)
    },
    close() {
      closing ??= new Promise((resolve) => socket.close(resolve))
      return closing
    },
  }
}
