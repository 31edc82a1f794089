import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { WebSocketServer } from 'ws'
import type { SocketEnd } from '../../handlers/handler.ts'
import { FakeClock } from '../core/clock.ts'
import { CustomerSockets, type CustomerSocketsOptions } from './customer-sockets.ts'
import { Signer } from './signatures.ts'

let server: WebSocketServer

beforeEach(async () => {
  server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
})

afterEach(async () => {
  for (const client of server.clients) client.terminate()
  server.close()
  await once(server, 'close')
})

const port = () => (server.address() as AddressInfo).port

const setUp = (changes: Partial<CustomerSocketsOptions> = {}) => {
  const clock = new FakeClock()
  const sockets = new CustomerSockets({
    allowedNetworks: ['127.0.0.0/8'],
    userAgent: 'Trunkline',
    clock,
    signer: (projectId) => new Signer([`key of ${projectId}`]),
    ...changes,
  })
  const open = (url = `ws://127.0.0.1:${port()}/relay?a=1`, maxMessageBytes = 1000) => {
    const events: (string | undefined)[] = []
    const ends: SocketEnd[] = []
    const socket = sockets.open({ url, maxMessageBytes }, 'p', {
      onOpen: () => events.push('open'),
      onMessage: (text) => events.push(text),
      onRoundTrip: (ms) => events.push(`round trip ${ms}`),
      onEnd: (end) => ends.push(end),
    })
    expect([events, ends]).toEqual([[], []])
    const ended = async () => {
      await vi.waitFor(() => expect(ends).toHaveLength(1))
      await vi.waitFor(() => expect(sockets.running).toBe(0))
      return ends[0]!
    }
    return { socket, events, ends, ended }
  }
  return { clock, sockets, open }
}

/** Returns the next connection at the server. */
const connected = async () => {
  const [socket, request] = await once(server, 'connection')
  return { socket, request }
}

describe('a WebSocket to a customer’s server', () => {
  it('is signed for its project, and carries text in both directions', async () => {
    const t = setUp()
    const next = connected()
    const { socket, events } = t.open(`ws://ann:secret@127.0.0.1:${port()}/relay?a=1#part`)
    const far = await next
    const signed = `ws://127.0.0.1:${port()}/relay?a=1`
    const signature = createHmac('sha1', 'key of p').update(signed).digest('base64')
    expect(far.request.headers).toMatchObject({
      'x-twilio-signature': signature,
      'x-signalwire-signature': signature,
      'user-agent': 'Trunkline',
      authorization: `Basic ${Buffer.from('ann:secret').toString('base64')}`,
    })
    expect(far.request.headers['webhook-signature']).toMatch(/^v1,/)
    await vi.waitFor(() => expect(events).toEqual(['open', 'round trip 0']))
    far.socket.send('hello')
    far.socket.send(Buffer.from([1]))
    await vi.waitFor(() => expect(events.slice(2)).toEqual(['hello', undefined]))
    const got = once(far.socket, 'message')
    socket.send('answer')
    expect(String((await got)[0])).toBe('answer')
    const closed = once(far.socket, 'close')
    socket.close()
    socket.close()
    socket.send('late')
    expect((await closed)[0]).toBe(1000)
    await vi.waitFor(() => expect([t.sockets.running, t.clock.running]).toEqual([0, 0]))
  })

  it.each([
    ['a private address', 'wss://10.0.0.1/relay', 'not in limits.documentNetworks'],
    ['another scheme', 'https://127.0.0.1/', 'wss: or ws:'],
    ['no URL', 'relay', 'wss: or ws:'],
  ])('does not reach %s', async (_, url, reason) => {
    expect(await setUp().open(url).ended()).toEqual({
      kind: 'unreachable',
      reason: expect.stringContaining(reason),
    })
  })

  it('does not reach a name with a private address, nor one that a changed configuration forbids', async () => {
    const resolve: CustomerSocketsOptions['resolve'] = (_, done) =>
      done(null, [{ address: '10.0.0.1', family: 4 }])
    const named = setUp({ resolve }).open(`ws://relay.example:${port()}/`)
    expect(await named.ended()).toMatchObject({
      kind: 'unreachable',
      reason: expect.stringContaining('10.0.0.1'),
    })
    const t = setUp()
    t.sockets.change([])
    expect(await t.open().ended()).toMatchObject({ kind: 'unreachable' })
  })

  it('fails if the server refuses, or does not answer in time', async () => {
    const closed = setUp().open('ws://127.0.0.1:1/')
    expect(await closed.ended()).toMatchObject({ kind: 'unreachable', reason: 'ECONNREFUSED' })
    const t = setUp()
    server.options.verifyClient = () => {}
    const silent = t.open()
    t.clock.advance(5000)
    expect(await silent.ended()).toEqual({
      kind: 'unreachable',
      reason: 'there was no connection within 5000 ms',
    })
  })

  it('ends as the server ends it', async () => {
    const t = setUp()
    const next = connected()
    const normal = t.open()
    ;(await next).socket.close(4000)
    expect(await normal.ended()).toEqual({
      kind: 'closed',
      reason: 'the server closed the connection (4000)',
    })
    const second = connected()
    const lost = t.open()
    ;(await second).socket.terminate()
    expect(await lost.ended()).toMatchObject({ kind: 'lost' })
    const third = connected()
    const large = t.open(undefined, 10)
    const far = await third
    await vi.waitFor(() => expect(large.events).toContain('open'))
    far.socket.send('more than ten bytes')
    expect(await large.ended()).toMatchObject({ kind: 'too-large' })
  })

  it('ends two seconds after a Close frame if the server leaves the connection open', async () => {
    const t = setUp()
    const next = connected()
    const half = t.open()
    const far = await next
    await vi.waitFor(() => expect(half.events).toEqual(['open', 'round trip 0']))
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      // The server does not read the answer, which would end the connection.
      far.socket.pause()
      far.request.socket.write(Buffer.from([0x88, 2, 4000 >> 8, 4000 & 0xff]))
      await vi.waitFor(() => expect(vi.getTimerCount()).toBe(1))
      expect(half.ends).toEqual([])
      vi.advanceTimersByTime(2000)
    } finally {
      vi.useRealTimers()
    }
    expect(await half.ended()).toEqual({
      kind: 'closed',
      reason: 'the server closed the connection (4000)',
    })
  })

  it('is lost if the server answers no ping', async () => {
    const t = setUp()
    const next = connected()
    const half = t.open()
    const far = await next
    await vi.waitFor(() => expect(half.events).toEqual(['open', 'round trip 0']))
    // The server is there, and reads nothing any more.
    far.socket.pause()
    t.clock.advance(20_000)
    expect(half.ends).toEqual([])
    t.clock.advance(20_000)
    expect(await half.ended()).toMatchObject({ kind: 'lost', reason: expect.stringContaining('ping') })
  })

  it('is closed with the client', async () => {
    const t = setUp()
    const next = connected()
    const { ends } = t.open()
    const closed = once((await next).socket, 'close')
    t.sockets.close()
    await closed
    await vi.waitFor(() => expect(t.sockets.running).toBe(0))
    expect(ends).toEqual([])
  })
})
