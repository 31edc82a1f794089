import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { uptime } from 'node:os'

/** Consecutive ports, both ends included; the first one is even, as RTP wants it. */
export interface PortRange {
  readonly from: number
  readonly to: number
}

/** A range that belongs to this process until its release, or until the process ends. */
export interface LeasedRange extends PortRange {
  /** Gives the ports back. Idempotent. */
  release(): void
}

/** Ports of a block. Another process of tests may hold the next block. */
export const blockSize = 100

/** Start of the space: the well-known ports and most of the registered ports are below it. */
const spaceFrom = 10_000

/** First port of mediasoup's relays, which could take a single port before its use. */
const relaysFrom = 30_000

/** Time after which the search begins one block further, so that a block rests before its next lease. */
const rotationSeconds = 4

/** First port that the system hands out by itself. Default, without Linux: that of IANA. */
const ephemeralFrom = (): number => {
  try {
    return Number.parseInt(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8'), 10)
  } catch {
    return 49_152
  }
}

/** Blocks below the system's own choices. */
const blockCount = Math.floor((ephemeralFrom() - spaceFrom) / blockSize)

/** Blocks below the relay ports, too. */
const blocksBelowRelays = Math.min(blockCount, (relaysFrom - spaceFrom) / blockSize)

const firstPortOf = (block: number): number => spaceFrom + block * blockSize

/**
 * Takes a block by a listening TCP socket at its first port: the system releases it however the process ends.
 * Returns undefined if another process has the block.
 */
const lockBlock = async (block: number): Promise<Server | undefined> => {
  const server = createServer((socket) => socket.destroy())
  server.listen({ host: '127.0.0.1', port: firstPortOf(block), exclusive: true })
  try {
    await once(server, 'listening')
  } catch {
    return undefined
  }
  return server.unref()
}

interface BlockLease {
  readonly first: number
  release(): void
}

/** Takes `count` blocks in a row. Returns the number of the first block that was not free as `taken`. */
const lockBlocks = async (first: number, count: number): Promise<BlockLease | { readonly taken: number }> => {
  const locks: Server[] = []
  const release = (): void => {
    for (const lock of locks.splice(0)) lock.close()
  }
  for (let block = first; block < first + count; block++) {
    const lock = await lockBlock(block)
    if (!lock) {
      release()
      return { taken: block }
    }
    locks.push(lock)
  }
  return { first: firstPortOf(first), release }
}

/**
 * Takes `count` consecutive blocks among the first `among`, at a first port that `accepts` permits.
 * Throws if there is no such row.
 */
const leaseBlocks = async (
  count: number,
  among: number,
  accepts: (first: number) => Promise<boolean> = async () => true,
): Promise<BlockLease> => {
  const starts = among - count + 1
  const begin = Math.floor(uptime() / rotationSeconds)
  for (let offset = 0; offset < starts; offset++) {
    const start = (begin + offset) % starts
    const lease = await lockBlocks(start, count)
    if ('release' in lease) {
      if (await accepts(lease.first)) return lease
      lease.release()
    } else {
      // Every row that starts at or before the taken block would include it.
      offset += Math.min(lease.taken, starts - 1) - start
    }
  }
  throw new Error(
    `no ${count * blockSize} free ports in a row from ${spaceFrom} to ${firstPortOf(among) - 1}: other programs hold them`,
  )
}

/** Whether the system can bind a UDP socket to the port of every address, IPv4 and IPv6. */
const isFreeForUdp = async (port: number): Promise<boolean> => {
  const bind = (family: 'udp4' | 'udp6', address: string): Promise<string | undefined> => {
    const socket = createSocket(family)
    const { promise, resolve } = Promise.withResolvers<string | undefined>()
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code))
    socket.bind({ port, address, exclusive: true }, () => resolve(undefined))
    return promise.finally(() => socket.close())
  }
  return isFreeBy(await bind('udp6', '::'), () => bind('udp4', '0.0.0.0'))
}

/** Whether the system can listen for TCP at the port of every address, IPv4 and IPv6. */
const isFreeForTcp = async (port: number): Promise<boolean> => {
  const listen = async (host: string): Promise<string | undefined> => {
    const server = createServer()
    server.listen({ port, host, exclusive: true })
    try {
      await once(server, 'listening')
    } catch (error) {
      return (error as NodeJS.ErrnoException).code
    }
    server.close()
    await once(server, 'close')
    return undefined
  }
  return isFreeBy(await listen('::'), () => listen('0.0.0.0'))
}

/** Judges by the error of a bind to `::`, or to 0.0.0.0 on a machine without IPv6. */
const isFreeBy = async (
  error: string | undefined,
  retry: () => Promise<string | undefined>,
): Promise<boolean> => {
  const hasNoIpv6 = error === 'EAFNOSUPPORT' || error === 'EADDRNOTAVAIL'
  return (hasNoIpv6 ? await retry() : error) === undefined
}

const isFree = async (port: number): Promise<boolean> =>
  (await isFreeForUdp(port)) && (await isFreeForTcp(port))

/** The block that single ports and short ranges come from; its first port is the lock. */
let next = 0
let end = 0

/** Requests run one after another, because each changes the block. */
let queue: Promise<unknown> = Promise.resolve()

const inTurn = <T>(job: () => Promise<T>): Promise<T> => {
  const result = queue.then(job, job)
  queue = result.catch(() => {})
  return result
}

/** Returns the first of `count` free ports in a row, from this process's block or from a new one. */
const take = async (count: number, step: 1 | 2): Promise<number> => {
  for (;;) {
    const first = Math.ceil(next / step) * step
    if (first + count > end) {
      const lease = await leaseBlocks(1, blocksBelowRelays)
      next = lease.first + 1
      end = lease.first + blockSize
      continue
    }
    next = first + count
    const ports = Array.from({ length: count }, (_, i) => first + i)
    const free = await Promise.all(ports.map(isFree))
    if (free.every(Boolean)) return first
  }
}

/**
 * A port for a program or a socket that a test starts later, free for UDP and TCP on every address.
 * It lies below the ports that the system chooses itself. It belongs to this process until its end.
 * No call in the process returns it again.
 */
export const freePort = (): Promise<number> => inTurn(() => take(1, 1))

/** As {@link freePort}, for `count` ports in a row, from an even one. At most {@link blockSize} - 2. */
export const freePortRange = async (count: number): Promise<PortRange> => {
  if (count > blockSize - 2) throw new RangeError(`at most ${blockSize - 2} ports in a row; lease ${count}`)
  const from = await inTurn(() => take(count, 2))
  return { from, to: from + count - 1 }
}

/** Ports of a range that are in use already. Only a few sockets are open at a time. */
const usedForUdp = async ({ from, to }: PortRange): Promise<number> => {
  let used = 0
  for (let first = from; first <= to; first += blockSize) {
    const ports = Array.from({ length: Math.min(blockSize, to + 1 - first) }, (_, i) => first + i)
    const free = await Promise.all(ports.map(isFreeForUdp))
    used += free.filter((each) => !each).length
  }
  return used
}

/**
 * A range of any length for RTP, to be released after the stop of its user.
 * One port in a hundred may be in use: the media edge skips it.
 */
export const leaseRtpRange = (count: number): Promise<LeasedRange> =>
  inTurn(async () => {
    const rangeAt = (from: number): PortRange => ({ from, to: from + count - 1 })
    const accepts = async (first: number) => (await usedForUdp(rangeAt(first))) <= count / 100
    const lease = await leaseBlocks(Math.ceil(count / blockSize), blockCount, accepts)
    return { ...rangeAt(lease.first), release: lease.release }
  })
