import { EventEmitter } from 'node:events'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { pino } from 'pino'
import { beforeEach, describe, expect, it } from 'vitest'
import { FakeClock } from '../core/clock.ts'
import { Metrics } from '../core/metrics.ts'
import { Connections } from './http-connections.ts'

class FakeSocket extends EventEmitter {
  readonly localAddress = '192.0.2.1'
  readonly localPort = 8443
  isClosed = false
  readonly remoteAddress: string
  readonly remotePort: number

  constructor(remoteAddress: string, remotePort: number) {
    super()
    this.remoteAddress = remoteAddress
    this.remotePort = remotePort
  }

  destroy(): void {
    if (this.isClosed) return
    this.isClosed = true
    this.emit('close')
  }
}

let clock: FakeClock
let metrics: Metrics
let lines: string[]
let server: EventEmitter
let connections: Connections
let port = 0

const watching = (maxConnections: number, maxConnectionsPerAddress: number) => {
  const log = pino({ level: 'warn' }, { write: (line: string) => lines.push(line) })
  const limits = { maxConnections, maxConnectionsPerAddress, trustedProxies: ['198.51.100.7/32'] }
  connections = new Connections('plain', limits, { clock, log, metrics })
  server = new EventEmitter()
  connections.watch(server as unknown as Server)
}

const connect = (address: string): FakeSocket => {
  const socket = new FakeSocket(address, ++port)
  server.emit('connection', socket)
  return socket
}

/** Sends a request; returns the end of its answer. */
const ask = (socket: FakeSocket, complete = true): (() => boolean) => {
  const response = new EventEmitter()
  server.emit('request', { socket, complete }, response)
  return () => response.emit('close')
}

const many = (count: number, address: string) => Array.from({ length: count }, () => connect(address))
const open = (sockets: readonly FakeSocket[]) => sockets.filter(({ isClosed }) => !isClosed).length
const dropped = async (reason: string) => {
  const { values } = await metrics.httpConnectionsDropped.get()
  return values.find(({ labels }) => labels.reason === reason)?.value ?? 0
}

beforeEach(() => {
  clock = new FakeClock()
  metrics = new Metrics()
  lines = []
  watching(40, 4)
})

describe('one network address', () => {
  it('can hold a limited number of idle connections: a new one closes the oldest', async () => {
    const idle = many(4, '203.0.113.5')
    clock.advance(1_001)
    const next = connect('203.0.113.5')
    expect([next.isClosed, idle.map(({ isClosed }) => isClosed)]).toEqual([
      false,
      [true, false, false, false],
    ])
    expect(await dropped('replaced')).toBe(1)
    expect(connections.size).toBe(4)
  })

  it('can open more connections at once, like pages behind one address: up to a quarter of the listener', async () => {
    const burst = many(12, '203.0.113.5')
    expect(open(burst)).toBe(10)
    expect(await dropped('address')).toBe(2)
    expect(connect('203.0.113.6').isClosed).toBe(false)
  })

  it('keeps connections with a complete request, and loses those that send slowly', () => {
    const [answered, slow, done] = many(4, '203.0.113.5')
    ask(answered!)
    ask(slow!, false)
    ask(done!)()
    clock.advance(1_001)
    many(2, '203.0.113.5')
    expect([answered!.isClosed, slow!.isClosed, done!.isClosed]).toEqual([false, true, true])
  })

  it('can use a quarter of the listener for slow downloads, and loses one download beyond that', () => {
    const slow = many(10, '203.0.113.5')
    for (const socket of slow.slice(0, 4)) ask(socket)
    for (const socket of slow.slice(4)) socket.destroy()
    clock.advance(31_000)
    many(6, '203.0.113.5')
    expect(open(slow)).toBe(4)
    expect(connect('203.0.113.5').isClosed).toBe(false)
    expect(open(slow)).toBe(3)
  })

  it('is a /64 of IPv6, or an IPv4 address in any spelling', () => {
    many(10, '2001:db8::1')
    expect(connect('2001:db8::ffff').isClosed).toBe(true)
    expect(connect('2001:db8:0:1::1').isClosed).toBe(false)
    many(10, '203.0.113.5')
    expect(connect('::ffff:203.0.113.5').isClosed).toBe(true)
  })

  it('is not limited if it is a trusted proxy', () => {
    expect(open(many(40, '198.51.100.7'))).toBe(40)
  })
})

it('gets a new connection in place of the oldest idle one of a full listener', async () => {
  const idle = Array.from({ length: 40 }, (_, i) => connect(`203.0.113.${i}`))
  expect(connect('198.51.100.1').isClosed).toBe(true)
  expect(await dropped('full')).toBe(1)
  clock.advance(1_001)
  expect(connect('198.51.100.1').isClosed).toBe(false)
  expect(idle[0]!.isClosed).toBe(true)
  expect(connections.size).toBe(40)
})

it('gets a new connection in place of one that has not read its responses for half a minute, idle ones first', () => {
  const slow = many(10, '203.0.113.1')
  for (const socket of slow) ask(socket)
  clock.advance(29_000)
  const others = [2, 3, 4].flatMap((i) => many(10, `203.0.113.${i}`))
  for (const socket of others.slice(1)) ask(socket)
  // More requests on a connection whose answers wait are no sign of life.
  for (const socket of slow) ask(socket)
  clock.advance(1_001)
  expect(connect('198.51.100.1').isClosed).toBe(false)
  expect([others[0]!.isClosed, open(slow)]).toEqual([true, 10])
  expect(connect('198.51.100.2').isClosed).toBe(false)
  expect([open(others), open(slow)]).toEqual([29, 9])
})

it('does not include WebSockets in its count', () => {
  const sockets = many(10, '203.0.113.5')
  expect(connect('203.0.113.5').isClosed).toBe(true)
  for (const socket of sockets) connections.release(socket as unknown as Socket)
  expect([connections.size, connections.addresses]).toEqual([0, 0])
  expect(open(many(10, '203.0.113.5'))).toBe(10)
  expect(open(sockets)).toBe(10)
})

it('is forgotten when its connections are closed', () => {
  for (const socket of many(10, '203.0.113.5')) socket.destroy()
  expect([connections.size, connections.addresses]).toEqual([0, 0])
})

it('causes one log line in ten seconds, with the number of connections', () => {
  many(25, '203.0.113.5')
  clock.advance(10_000)
  connect('203.0.113.9')
  many(11, '203.0.113.9')
  expect(lines.map((line) => JSON.parse(line)).map(({ dropped: n, source }) => [n, source])).toEqual([
    [1, '203.0.113.5'],
    [15, '203.0.113.9'],
  ])
})
