import { once } from 'node:events'
import type { Socket } from 'node:net'
import { expect, it } from 'vitest'
import { inviteText } from '../testing/messages.ts'
import { type StreamBench, streamBenches } from '../testing/stream-bench.ts'
import { openGate } from './types.ts'

let bench: StreamBench
let trusted: boolean
let accepted: boolean
/** The addresses of which it was asked whether they are trusted. */
let asked: string[]

streamBenches(
  () => {
    trusted = true
    accepted = true
    asked = []
    const trusts = (address: string) => {
      asked.push(address)
      return trusted
    }
    return { ...openGate, isTrusted: trusts, accepts: () => accepted }
  },
  (opened) => {
    bench = opened
  },
)

/** Connects from a local address. */
const from = async (localAddress?: string) => (await bench.dial(localAddress)).resume()
const threeAddresses = ['127.0.0.1', '127.0.0.1', '127.0.0.2', '127.0.0.2', '127.0.0.3', '127.0.0.3']
const answerTo = (method: string) => Buffer.from(`SIP/2.0 200 OK\r\nCSeq: 1 ${method}\r\n\r\n`)

it('one source can hold a quarter of the connections', async () => {
  const first = await from()
  await bench.say(first, inviteText)
  await bench.say(await from(), inviteText)
  await once(await from(), 'close')
  expect(bench.transport.connections).toBe(2)
  first.destroy()
  await bench.sink.until(() => bench.sink.losses.length > 0)
  await bench.say(await from(), inviteText)
  expect(bench.transport.connections).toBe(2)
})

it('a quarter of the connections is reserved for trusted sources', async () => {
  trusted = false
  for (const [i, address] of threeAddresses.entries()) {
    await bench.say(await from(address), inviteText)
    ;(await bench.sink.flow(i)).send(answerTo('REGISTER'))
  }
  await once(await from('127.0.0.4'), 'close')
  trusted = true
  await bench.say(await from('127.0.0.4'), inviteText)
  expect(bench.transport.connections).toBe(7)
})

it('the untrusted connection that has been silent longest is closed for new ones', async () => {
  trusted = false
  const held: Socket[] = []
  for (const [i, address] of threeAddresses.entries()) {
    const socket = await from(address)
    held.push(socket)
    await bench.say(socket, inviteText)
    // Every peer gets these two.
    if (i > 2) for (const method of ['OPTIONS', 'CANCEL']) (await bench.sink.flow(i)).send(answerTo(method))
    bench.clock.advance(1_000)
  }
  const [first, second, third] = held as [Socket, Socket, Socket]
  ;(await bench.sink.flow(0)).send(answerTo('REGISTER'))
  await bench.say(second, inviteText)
  const pong = once(third, 'data')
  third.write('\r\n\r\n')
  await pong
  const closed = once(third, 'close')
  await bench.say(await from('127.0.0.4'), inviteText)
  await closed
  const next = once(held[3] as Socket, 'close')
  await bench.say(await from('127.0.0.5'), inviteText)
  await next
  await bench.sink.until(() => bench.sink.losses.length === 2)
  expect(bench.sink.losses).toEqual(Array(2).fill('replaced by a new connection'))
  expect([first.destroyed, second.destroyed]).toEqual([false, false])
})

it('closes no connection for a new one that is rejected anyway', async () => {
  trusted = false
  for (const address of threeAddresses) await bench.say(await from(address), inviteText)
  accepted = false
  asked = []
  await once(await from('127.0.0.4'), 'close')
  expect(asked.filter((address) => address !== '127.0.0.4')).toEqual([])
})

it('closes the least recently used connection if the agent has opened too many', async () => {
  const hop = await bench.listen(() => {})
  const flows = [...Array(9)].map((_, i) => bench.transport.connect({ ...hop, host: `h${i}.example` }))
  await bench.sink.until(() => bench.sink.losses.length > 0)
  expect(flows.map((each) => each?.isClosed)).toEqual([true, ...Array(8).fill(false)])
})

it('closes as many connections as it opens, also at once', async () => {
  const hop = await bench.listen(() => {})
  const flows = [...Array(12)].map((_, i) => bench.transport.connect({ ...hop, host: `h${i}.example` }))
  await bench.sink.until(() => bench.sink.losses.length >= 4)
  expect(flows.map((each) => each?.isClosed)).toEqual([...Array(4).fill(true), ...Array(8).fill(false)])
})

it('sends nothing over a connection that it closes', async () => {
  const first = await bench.listen(() => {})
  const other = await bench.listen(() => {})
  const flow = bench.transport.connect(first)
  expect(bench.transport.find(first)).toBe(flow)
  for (let i = 0; i < 8; i++) bench.transport.connect(other)
  expect([flow?.isClosed, bench.transport.find(first)]).toEqual([false, undefined])
})
