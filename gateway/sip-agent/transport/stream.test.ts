import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { FakeClock } from '../../clock.ts'
import { defaultLimits } from '../message/limits.ts'
import type { Hop } from '../route/types.ts'
import { inviteText } from '../testing/messages.ts'
import { TestSink } from '../testing/sink.ts'
import { StreamTransport } from './stream.ts'
import { TlsSettings } from './tls.ts'

let clock: FakeClock
let sink: TestSink
let transport: StreamTransport
let refused: (bytes: Buffer) => boolean
let stranger: boolean
/** Messages that may follow the first one of a piece. */
let following: number
let sockets: Socket[]
let servers: Server[]

beforeEach(async () => {
  clock = new FakeClock()
  sink = new TestSink()
  sockets = []
  servers = []
  refused = () => false
  stranger = false
  following = Number.MAX_SAFE_INTEGER
  const gate = {
    admits: (_protocol: string, _address: string, bytes: Buffer) => !refused(bytes),
    accepts: () => !stranger,
    follows: () => following-- > 0,
  }
  const options = { sink, gate, limits: defaultLimits, clock, maxConnections: 8 }
  transport = new StreamTransport('tcp', { ...options, tls: new TlsSettings(undefined) })
  await transport.open('127.0.0.1', 0)
})
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  for (const server of servers) server.close()
  await transport.close()
  while (transport.connections > 0) await new Promise(setImmediate)
  expect([transport.connections, clock.running]).toEqual([0, 0])
})

const keep = (socket: Socket): Socket => {
  socket.on('error', () => {})
  sockets.push(socket)
  return socket
}

const dial = async (): Promise<Socket> => {
  const socket = keep(connect(transport.local.port, '127.0.0.1'))
  await once(socket, 'connect')
  return socket
}

/** Writes, and waits until `count` more messages came. */
const say = async (socket: Socket, text: string, count = 1) => {
  const wanted = sink.messages.length + count
  socket.write(text)
  await sink.until(() => sink.messages.length >= wanted)
}

const listen = async (taken: (socket: Socket) => void): Promise<Hop> => {
  const server = createServer((socket) => taken(keep(socket)))
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  return { protocol: 'tcp', address: '127.0.0.1', port, host: 'carrier.example' }
}

it('a connection that never says anything is ended after 30 s', async () => {
  const socket = await dial()
  await say(await dial(), inviteText)
  const closed = once(socket, 'close')
  clock.advance(30_000)
  await closed
  await sink.until(() => sink.losses.length > 0)
  expect([transport.connections, sink.losses]).toEqual([1, ['no message came']])
})

it('a connection that has sent a message may be silent', async () => {
  await say(await dial(), inviteText)
  expect(clock.running).toBe(0)
})

it('a message that does not end ends the connection, one that ends in time does not, however it is cut', async () => {
  const socket = await dial()
  // Every segment ends within a message, and every message is whole in time.
  await say(socket, inviteText + inviteText.slice(0, 40))
  for (let i = 0; i < 4; i++) {
    clock.advance(20_000)
    await say(socket, inviteText.slice(40) + inviteText.slice(0, 40))
  }
  expect([sink.messages.length, transport.connections]).toEqual([5, 1])
  const closed = once(socket, 'close')
  clock.advance(30_000)
  await closed
})

it('nothing is read any more after a fault in the stream', async () => {
  const socket = await dial()
  const closed = once(socket, 'close')
  socket.write('no SIP at all\r\n\r\n')
  await sink.until(() => sink.faults.length > 0)
  socket.write(inviteText)
  await closed
  expect(sink.messages.length).toBe(0)
})

it('what the gatekeeper does not admit ends the connection unread', async () => {
  refused = (bytes) => bytes.includes('scanner')
  const socket = await dial()
  const closed = once(socket, 'close')
  socket.write(`${inviteText}User-Agent: scanner`)
  await closed
  await sink.until(() => sink.losses.length > 0)
  expect([sink.messages.length, sink.losses]).toEqual([0, ['not admitted']])
})

it('each further message of one piece is asked for too', async () => {
  following = 2
  const socket = await dial()
  const closed = once(socket, 'close')
  socket.write(inviteText.repeat(9))
  await closed
  await sink.until(() => sink.losses.length > 0)
  expect([sink.messages.length, sink.losses]).toEqual([3, ['not admitted']])
})

it('pings that come together get one answer, and count as no message', async () => {
  following = 0
  const socket = await dial()
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk.toString()
  })
  socket.write('\r\n\r\n'.repeat(1_000))
  await say(socket, inviteText)
  const flow = await sink.flow()
  flow.send(Buffer.from('end'))
  while (!text.endsWith('end')) await once(socket, 'data')
  // The system may have cut what was written into a few pieces.
  expect(text.length).toBeLessThan(50)
  expect(text).toMatch(/^(?:\r\n)+end$/)
})

it('whom the gatekeeper does not accept is closed at once', async () => {
  stranger = true
  const socket = keep(connect(transport.local.port, '127.0.0.1'))
  await once(socket, 'close')
  expect([transport.connections, sink.losses]).toEqual([0, []])
})

it('an error of our own costs one connection', async () => {
  const error = new Error('broken')
  sink.received = () => {
    throw error
  }
  const socket = await dial()
  const closed = once(socket, 'close')
  socket.write(inviteText)
  await closed
  await sink.until(() => sink.losses.length > 0)
  expect([sink.errors, sink.losses]).toEqual([[error], ['a fault within the agent']])
})

it('a double CRLF is answered by one', async () => {
  const socket = await dial()
  const heard = once(socket, 'data')
  socket.write('\r\n\r\n')
  expect(String(await heard)).toBe('\r\n')
})

it('a connection of ours that is not there in 10 s has failed, and one that is only tried, in 2 s', async () => {
  const hop = await listen(() => {})
  for (const [tentative, ms] of [
    [undefined, 10_000],
    [true, 2_000],
  ] as const) {
    const flow = transport.connect({ ...hop, tentative })
    const failed = new Promise<string>((resolve) => flow?.send(Buffer.from('x'), resolve))
    // Still before the system has connected: the clock runs ahead of it.
    clock.advance(ms)
    expect(await failed).toBe(
      `tcp 127.0.0.1:${hop.port} (carrier.example): not connected within ${ms / 1_000} s`,
    )
  }
})

it('says that nobody listens', async () => {
  const hop = await listen(() => {})
  await new Promise((resolve) => servers[0]?.close(resolve))
  const flow = transport.connect(hop)
  const failed = await new Promise<string>((resolve) => flow?.send(Buffer.from('x'), resolve))
  expect(failed).toContain(`tcp 127.0.0.1:${hop.port} (carrier.example): connect ECONNREFUSED`)
  expect([flow?.closed, sink.losses]).toEqual([true, [failed]])
})

it('what is said before the connection is there goes out in order', async () => {
  const heard: Buffer[] = []
  let all = () => {}
  const whole = new Promise<void>((resolve) => {
    all = resolve
  })
  const hop = await listen((socket) =>
    socket.on('data', (chunk) => {
      heard.push(chunk)
      if (String(Buffer.concat(heard)) === 'one two three') all()
    }),
  )
  const flow = transport.connect(hop)
  for (const text of ['one ', 'two ', 'three']) flow?.send(Buffer.from(text))
  await whole
})

it('a peer that does not read is cut off', async () => {
  const hop = await listen((socket) => socket.pause())
  const flow = transport.connect(hop)
  const failures: string[] = []
  const megabyte = Buffer.alloc(1 << 20)
  while (!flow?.closed && sink.losses.length === 0) {
    flow?.send(megabyte, (reason) => failures.push(reason))
    await new Promise(setImmediate)
  }
  expect([sink.losses, failures.at(-1)]).toEqual([['the peer does not read'], 'the peer does not read'])
})

it('a request goes over the open connection, whoever opened it', async () => {
  const socket = await dial()
  await say(socket, inviteText)
  const accepted = await sink.flow()
  const { address, port } = accepted.remote
  expect(transport.find({ protocol: 'tcp', address, port, host: 'any.example' })).toBe(accepted)
  expect(transport.find({ protocol: 'tcp', address, port: port + 1, host: address })).toBeUndefined()
  const hop = await listen(() => {})
  const made = transport.connect(hop)
  expect(transport.find(hop)).toBe(made)
})

it('takes no alias for plain TCP, where nobody has proved anything', async () => {
  await say(await dial(), inviteText.replace(';rport,', ';rport;alias,'))
  const { message } = sink.messages[0] as (typeof sink.messages)[0]
  expect([message.via.params.has('alias'), message.via.port]).toEqual([true, 5061])
  const hop = { protocol: 'tcp', address: '127.0.0.1', port: 5061, host: '127.0.0.1' } as const
  expect(transport.find(hop)).toBeUndefined()
})
