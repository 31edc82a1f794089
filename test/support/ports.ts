import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Those that were given out: the system may choose one again that nobody has bound yet. */
const given = new Set<number>()

/** A port of 127.0.0.1 that was free a moment ago for UDP and TCP; never the same one twice. */
export const freePort = async (): Promise<number> => {
  for (;;) {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    const socket = createSocket('udp4')
    const bound = await new Promise<boolean>((resolve) => {
      socket.once('error', () => resolve(false))
      socket.bind(port, '127.0.0.1', () => resolve(true))
    })
    socket.close()
    server.close()
    await once(server, 'close')
    if (!bound || given.has(port)) continue
    given.add(port)
    return port
  }
}

/** The first port of a range of `count` for RTP, below the system's own choices; even, as RTP wants it. At most 22,000. */
export const rtpRange = (count: number): { from: number; to: number } => {
  const from = 10_000 + 2 * Math.floor(Math.random() * ((22_000 - count) / 2))
  return { from, to: from + count - 1 }
}
