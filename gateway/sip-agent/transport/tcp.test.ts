import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { FakeClock } from '../../clock.ts'
import { defaultLimits } from '../message/limits.ts'
import { inviteText } from '../testing/messages.ts'
import { TcpTransport } from './tcp.ts'

let clock: FakeClock
let transport: TcpTransport
let received = 0
let wake = () => {}
let sockets: Socket[] = []

const sink = {
  received: () => {
    received++
    wake()
  },
  malformed: () => wake(),
  lost: () => wake(),
}

beforeEach(async () => {
  clock = new FakeClock()
  received = 0
  sockets = []
  transport = new TcpTransport(sink, defaultLimits, clock, 8)
  await transport.open('127.0.0.1', 0)
})
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  await transport.close()
  while (transport.connections > 0) await event()
  expect([transport.connections, clock.running]).toEqual([0, 0])
})

/** The next event of the transport. */
const event = () =>
  new Promise<void>((resolve) => {
    wake = resolve
  })

const dial = async (): Promise<Socket> => {
  const socket = connect(transport.local.port, '127.0.0.1')
  socket.on('error', () => {})
  sockets.push(socket)
  await once(socket, 'connect')
  return socket
}

const say = async (socket: Socket, text: string) => {
  const heard = event()
  socket.write(text)
  await heard
}

it('a connection that never says anything is ended after 30 s', async () => {
  const socket = await dial()
  await say(await dial(), inviteText)
  const closed = once(socket, 'close')
  clock.advance(30_000)
  await closed
  expect(transport.connections).toBe(1)
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
  expect([received, transport.connections]).toEqual([5, 1])
  const closed = once(socket, 'close')
  clock.advance(30_000)
  await closed
})

it('one source may hold a quarter of the connections', async () => {
  for (let i = 0; i < 2; i++) await say(await dial(), inviteText)
  const third = await dial()
  await once(third, 'close')
  expect(transport.connections).toBe(2)
})

it('nothing is read any more after a fault in the stream', async () => {
  const socket = await dial()
  const closed = once(socket, 'close')
  await say(socket, 'no SIP at all\r\n\r\n')
  socket.write(inviteText)
  await closed
  expect(received).toBe(0)
})

it('a connection of ours that is not there in 10 s has failed', async () => {
  const server = createServer((socket) => sockets.push(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const flow = transport.flow('127.0.0.1', port)
  const failed = new Promise<string>((resolve) => flow.send(Buffer.from('x'), resolve))
  // Still before the system has connected: the clock runs ahead of it.
  clock.advance(10_000)
  expect(await failed).not.toBe('')
  server.close()
})
