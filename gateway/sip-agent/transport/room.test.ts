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
import { openGate } from './types.ts'

let clock: FakeClock
let sink: TestSink
let transport: StreamTransport
let trusted: boolean
let accepted: boolean
/** The addresses of which it was asked whether they are trusted. */
let asked: string[]
let sockets: Socket[]
let servers: Server[]

beforeEach(async () => {
  clock = new FakeClock()
  sink = new TestSink()
  sockets = []
  servers = []
  trusted = true
  accepted = true
  asked = []
  const trusts = (address: string) => {
    asked.push(address)
    return trusted
  }
  const gate = { ...openGate, trusts, accepts: () => accepted }
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

/** A connection from an address of ours. */
const from = async (localAddress = '127.0.0.1') => {
  const socket = keep(connect({ port: transport.local.port, host: '127.0.0.1', localAddress }))
  await once(socket, 'connect')
  return socket.resume()
}
const threeAddresses = ['127.0.0.1', '127.0.0.1', '127.0.0.2', '127.0.0.2', '127.0.0.3', '127.0.0.3']
const answerTo = (method: string) => Buffer.from(`SIP/2.0 200 OK\r\nCSeq: 1 ${method}\r\n\r\n`)

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

it('one source may hold a quarter of the connections', async () => {
  const first = await from()
  await say(first, inviteText)
  await say(await from(), inviteText)
  await once(await from(), 'close')
  expect(transport.connections).toBe(2)
  first.destroy()
  await sink.until(() => sink.losses.length > 0)
  await say(await from(), inviteText)
  expect(transport.connections).toBe(2)
})

it('strangers leave a quarter of the connections to those that are known', async () => {
  trusted = false
  for (const [i, address] of threeAddresses.entries()) {
    await say(await from(address), inviteText)
    ;(await sink.flow(i)).send(answerTo('REGISTER'))
  }
  await once(await from('127.0.0.4'), 'close')
  trusted = true
  await say(await from('127.0.0.4'), inviteText)
  expect(transport.connections).toBe(7)
})

it('a stranger who was never let in and is silent for longest makes room for the next ones', async () => {
  trusted = false
  const held: Socket[] = []
  for (const [i, address] of threeAddresses.entries()) {
    const socket = await from(address)
    held.push(socket)
    await say(socket, inviteText)
    // Anybody gets these two.
    if (i > 2) for (const method of ['OPTIONS', 'CANCEL']) (await sink.flow(i)).send(answerTo(method))
    clock.advance(1_000)
  }
  const [first, second, third] = held as [Socket, Socket, Socket]
  ;(await sink.flow(0)).send(answerTo('REGISTER'))
  await say(second, inviteText)
  const pong = once(third, 'data')
  third.write('\r\n\r\n')
  await pong
  const closed = once(third, 'close')
  await say(await from('127.0.0.4'), inviteText)
  await closed
  const next = once(held[3] as Socket, 'close')
  await say(await from('127.0.0.5'), inviteText)
  await next
  await sink.until(() => sink.losses.length === 2)
  expect(sink.losses).toEqual(Array(2).fill('its place was taken'))
  expect([first.destroyed, second.destroyed]).toEqual([false, false])
})

it('looks for nobody who could make room for one who is not let in anyway', async () => {
  trusted = false
  for (const address of threeAddresses) await say(await from(address), inviteText)
  accepted = false
  asked = []
  await once(await from('127.0.0.4'), 'close')
  expect(asked.filter((address) => address !== '127.0.0.4')).toEqual([])
})

it('gives up the connection that was not used for longest where we made too many', async () => {
  const hop = await listen(() => {})
  const flows = [...Array(9)].map((_, i) => transport.connect({ ...hop, host: `h${i}.example` }))
  await sink.until(() => sink.losses.length > 0)
  expect(flows.map((each) => each?.closed)).toEqual([true, ...Array(8).fill(false)])
})

it('gives up as many connections as it makes, all at once too', async () => {
  const hop = await listen(() => {})
  const flows = [...Array(12)].map((_, i) => transport.connect({ ...hop, host: `h${i}.example` }))
  await sink.until(() => sink.losses.length >= 4)
  expect(flows.map((each) => each?.closed)).toEqual([...Array(4).fill(true), ...Array(8).fill(false)])
})

it('sends nothing more over a connection that it gives up', async () => {
  const first = await listen(() => {})
  const other = await listen(() => {})
  const flow = transport.connect(first)
  expect(transport.find(first)).toBe(flow)
  for (let i = 0; i < 8; i++) transport.connect(other)
  expect([flow?.closed, transport.find(first)]).toEqual([false, undefined])
})
