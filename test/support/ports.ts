import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Test files that run at once, and which of them this is, from 0: each has ports of its own. Benchmarks run alone. */
const pool = process.env.VITEST_POOL_ID
const turns = pool === undefined ? 1 : 2
const turn = pool === undefined ? 0 : Number(pool) % turns

/** By blocks of eight: of ports next to one another the system gives out every second one first. */
const turnOf = (port: number): number => (port >> 3) % turns

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
    if (!bound || given.has(port) || turnOf(port) !== turn) continue
    given.add(port)
    return port
  }
}

/** The first port of a range of `count` for RTP, below the system's own choices; even, as RTP wants it. At most 22,000; 11,000 where two files run at once. */
export const rtpRange = (count: number): { from: number; to: number } => {
  const room = 22_000 / turns
  const from = 10_000 + turn * room + 2 * Math.floor(Math.random() * ((room - count) / 2))
  return { from, to: from + count - 1 }
}
