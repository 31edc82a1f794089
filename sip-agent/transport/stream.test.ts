import { once } from 'node:events'
import { expect, it } from 'vitest'
import { inviteText } from '../testing/messages.ts'
import { type StreamBench, streamBenches } from '../testing/stream-bench.ts'

let bench: StreamBench
let refused: (bytes: Buffer) => boolean
let stranger: boolean
/** Messages that may follow the first one of a piece. */
let following: number

streamBenches(
  () => {
    refused = () => false
    stranger = false
    following = Number.MAX_SAFE_INTEGER
    return {
      admits: (_protocol, _address, bytes) => !refused(bytes),
      accepts: () => !stranger,
      admitsNext: () => following-- > 0,
    }
  },
  (opened) => {
    bench = opened
  },
)

it('a connection without any message is closed after 30 s', async () => {
  const socket = await bench.dial()
  await bench.say(await bench.dial(), inviteText)
  const closed = once(socket, 'close')
  bench.clock.advance(30_000)
  await closed
  await bench.sink.until(() => bench.sink.losses.length > 0)
  expect([bench.transport.connections, bench.sink.losses]).toEqual([1, ['no message arrived in time']])
})

it('a connection that has sent a message may be silent', async () => {
  await bench.say(await bench.dial(), inviteText)
  expect(bench.clock.running).toBe(0)
})

it('an incomplete message closes the connection after a timeout, however it is split', async () => {
  const socket = await bench.dial()
  // Every segment ends within a message, and every message is whole in time.
  await bench.say(socket, inviteText + inviteText.slice(0, 40))
  for (let i = 0; i < 4; i++) {
    bench.clock.advance(20_000)
    await bench.say(socket, inviteText.slice(40) + inviteText.slice(0, 40))
  }
  expect([bench.sink.messages.length, bench.transport.connections]).toEqual([5, 1])
  const closed = once(socket, 'close')
  bench.clock.advance(30_000)
  await closed
})

it('nothing is read after a fault in the stream', async () => {
  const socket = await bench.dial()
  const closed = once(socket, 'close')
  socket.write('no SIP at all\r\n\r\n')
  await bench.sink.until(() => bench.sink.faults.length > 0)
  socket.write(inviteText)
  await closed
  expect(bench.sink.messages.length).toBe(0)
})

it('bytes that the gatekeeper rejects close the connection unread', async () => {
  refused = (bytes) => bytes.includes('scanner')
  const socket = await bench.dial()
  const closed = once(socket, 'close')
  socket.write(`${inviteText}User-Agent: scanner`)
  await closed
  await bench.sink.until(() => bench.sink.losses.length > 0)
  expect([bench.sink.messages.length, bench.sink.losses]).toEqual([0, ['not admitted']])
})

it('the gatekeeper checks each message of one chunk', async () => {
  following = 2
  const socket = await bench.dial()
  const closed = once(socket, 'close')
  socket.write(inviteText.repeat(9))
  await closed
  await bench.sink.until(() => bench.sink.losses.length > 0)
  expect([bench.sink.messages.length, bench.sink.losses]).toEqual([3, ['not admitted']])
})

it('several pings at once get one pong, and do not count as a message', async () => {
  following = 0
  const socket = await bench.dial()
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk.toString()
  })
  socket.write('\r\n\r\n'.repeat(1_000))
  await bench.say(socket, inviteText)
  const flow = await bench.sink.flow()
  flow.send(Buffer.from('end'))
  while (!text.endsWith('end')) await once(socket, 'data')
  // The system may have cut what was written into a few pieces.
  expect(text.length).toBeLessThan(50)
  expect(text).toMatch(/^(?:\r\n)+end$/)
})

it('that the gatekeeper rejects is closed at once', async () => {
  stranger = true
  await once(await bench.dial(), 'close')
  expect([bench.transport.connections, bench.sink.losses]).toEqual([0, []])
})

it('an internal error closes one connection only', async () => {
  const error = new Error('broken')
  bench.sink.received = () => {
    throw error
  }
  const socket = await bench.dial()
  const closed = once(socket, 'close')
  socket.write(inviteText)
  await closed
  await bench.sink.until(() => bench.sink.losses.length > 0)
  expect([bench.sink.errors, bench.sink.losses]).toEqual([[error], ['internal error of the agent']])
})

it('a double CRLF is answered by one', async () => {
  const socket = await bench.dial()
  const heard = once(socket, 'data')
  socket.write('\r\n\r\n')
  expect(String(await heard)).toBe('\r\n')
})

it('an outgoing connection times out after 10 s, a trial after 2 s', async () => {
  const hop = await bench.listen(() => {})
  for (const [tentative, ms] of [
    [undefined, 10_000],
    [true, 2_000],
  ] as const) {
    const flow = bench.transport.connect({ ...hop, isTentative: tentative })
    const failed = new Promise<string>((resolve) => flow?.send(Buffer.from('x'), resolve))
    // Still before the system has connected: the clock runs ahead of it.
    bench.clock.advance(ms)
    expect(await failed).toBe(
      `tcp 127.0.0.1:${hop.port} (carrier.example): not connected within ${ms / 1_000} s`,
    )
  }
})

it('names a missing listener', async () => {
  const hop = await bench.listen(() => {})
  await bench.deafen()
  const flow = bench.transport.connect(hop)
  const failed = await new Promise<string>((resolve) => flow?.send(Buffer.from('x'), resolve))
  expect(failed).toContain(`tcp 127.0.0.1:${hop.port} (carrier.example): connect ECONNREFUSED`)
  expect([flow?.isClosed, bench.sink.losses]).toEqual([true, [failed]])
})

it('messages sent before the connection is open are sent in order', async () => {
  const heard: Buffer[] = []
  let all = () => {}
  const whole = new Promise<void>((resolve) => {
    all = resolve
  })
  const hop = await bench.listen((socket) =>
    socket.on('data', (chunk) => {
      heard.push(chunk)
      if (String(Buffer.concat(heard)) === 'one two three') all()
    }),
  )
  const flow = bench.transport.connect(hop)
  for (const text of ['one ', 'two ', 'three']) flow?.send(Buffer.from(text))
  await whole
})

it('a peer that does not read is disconnected', async () => {
  const hop = await bench.listen((socket) => socket.pause())
  const flow = bench.transport.connect(hop)
  const failures: string[] = []
  const megabyte = Buffer.alloc(1 << 20)
  while (!flow?.isClosed && bench.sink.losses.length === 0) {
    flow?.send(megabyte, (reason) => failures.push(reason))
    await new Promise(setImmediate)
  }
  expect([bench.sink.losses, failures.at(-1)]).toEqual([['the peer does not read'], 'the peer does not read'])
})

it('a request uses the open connection, whichever side opened it', async () => {
  const socket = await bench.dial()
  await bench.say(socket, inviteText)
  const accepted = await bench.sink.flow()
  const { address, port } = accepted.remote
  expect(bench.transport.find({ protocol: 'tcp', address, port, host: 'any.example' })).toBe(accepted)
  expect(bench.transport.find({ protocol: 'tcp', address, port: port + 1, host: address })).toBeUndefined()
  const hop = await bench.listen(() => {})
  const made = bench.transport.connect(hop)
  expect(bench.transport.find(hop)).toBe(made)
})

it('ignores an alias over plain TCP, which proves no identity', async () => {
  await bench.say(await bench.dial(), inviteText.replace(';rport,', ';rport;alias,'))
  const { message } = bench.sink.messages[0] as (typeof bench.sink.messages)[0]
  expect([message.via.params.has('alias'), message.via.port]).toEqual([true, 5061])
  const hop = { protocol: 'tcp', address: '127.0.0.1', port: 5061, host: '127.0.0.1' } as const
  expect(bench.transport.find(hop)).toBeUndefined()
})
