import { once } from 'node:events'
import { get } from 'node:http'
import { connect } from 'node:net'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type ClientOptions, WebSocket } from 'ws'
import { FakeClock } from '../clock.ts'
import { defaultMessageLimits } from '../message/limits.ts'
import { makeAuthority } from '../testing/certificates.ts'
import { inviteText } from '../testing/messages.ts'
import { TestSink } from '../testing/sink.ts'
import type { SipTls } from './transport-settings.ts'
import { Transports } from './transports.ts'
import { openGate } from './types.ts'

let tls: SipTls

beforeAll(async () => {
  const authority = await makeAuthority()
  const certificate = await authority.issue({ dns: ['localhost'] })
  tls = {
    ...certificate,
    names: [],
    ca: authority.certificate,
    clientCertificates: 'none',
    minVersion: 'TLSv1.2',
  }
})

describe.each(['ws', 'wss'] as const)('over %s', (protocol) => {
  let clock: FakeClock
  let sink: TestSink
  let transports: Transports
  let clients: WebSocket[]
  let port: number

  beforeEach(async () => {
    clock = new FakeClock()
    sink = new TestSink()
    clients = []
    const limits = { ...defaultMessageLimits, messageBytes: 2_000 }
    transports = new Transports({ sink, limits, clock, maxConnections: 8, gatekeeper: openGate, tls })
    await transports.open({ transport: protocol, address: '127.0.0.1', port: 0 })
    port = transports.addresses[0]?.port as number
  })
  afterEach(async () => {
    for (const client of clients) client.terminate()
    await transports.close()
    while (transports.connections > 0) await new Promise(setImmediate)
    expect([transports.connections, clock.running]).toEqual([0, 0])
  })

  const start = (subprotocols: string[] = ['sip'], options: ClientOptions = {}): WebSocket => {
    const client = new WebSocket(`${protocol}://localhost:${port}/any`, subprotocols, {
      ca: tls.ca,
      family: 4,
      ...options,
    } as ClientOptions)
    client.on('error', () => {})
    clients.push(client)
    return client
  }

  const dial = async (options: ClientOptions = {}): Promise<WebSocket> => {
    const client = start(['other', 'sip'], options)
    await once(client, 'open')
    return client
  }

  it('a text frame and a binary frame hold a message each', async () => {
    const client = await dial()
    expect(client.protocol).toBe('sip')
    client.send(inviteText)
    client.send(Buffer.from(inviteText.replace(/Content-Length: \d+\r\n/, '')))
    await sink.flow(1)
    expect(sink.messages.map(({ message }) => message.body.length)).toEqual([4, 4])
  })

  it('responses are sent in text frames, or binary ones if they are not UTF-8', async () => {
    const client = await dial()
    client.send(inviteText)
    const flow = await sink.flow()
    const heard: [string, boolean][] = []
    const both = new Promise<void>((resolve) => {
      client.on('message', (data, binary) => {
        heard.push([(data as Buffer).toString('latin1'), binary])
        if (heard.length === 2) resolve()
      })
    })
    flow.send(Buffer.from('text'))
    flow.send(Buffer.from('M\xfcller', 'latin1'))
    await both
    expect(heard).toEqual([
      ['text', false],
      ['M\xfcller', true],
    ])
    expect([flow.isReliable, flow.remote.protocol, flow.local.port]).toEqual([true, protocol, port])
  })

  it('a malformed message affects no other', async () => {
    const client = await dial()
    client.send('no SIP at all')
    client.send(inviteText)
    const flow = await sink.flow()
    expect([sink.faults.length, flow.isClosed]).toEqual([1, false])
  })

  it('the keep-alive of RFC 5626 is answered (RFC 7118 6)', async () => {
    const client = await dial()
    const heard = once(client, 'message')
    client.send('\r\n')
    client.send('\r\n\r\n')
    expect(String((await heard)[0])).toBe('\r\n')
  })

  it('a message beyond the limit ends the connection', async () => {
    const client = await dial()
    client.send(inviteText)
    await sink.flow()
    const closed = once(client, 'close')
    client.send('x'.repeat(2_001))
    expect((await closed)[0]).toBe(1009)
    await sink.until(() => sink.losses.length > 0)
    expect(sink.messages.length).toBe(1)
  })

  it.each([[[]], [['other']]])(
    'an offer of the subprotocols %j is rejected (RFC 7118 4.1)',
    async (subprotocols) => {
      const client = start(subprotocols as string[])
      const [, response] = await once(client, 'unexpected-response')
      expect(response.statusCode).toBe(400)
    },
  )

  it('a request uses the open connection, and fails without one', async () => {
    const client = await dial()
    client.send(inviteText)
    const flow = await sink.flow()
    const { address, port: from } = flow.remote
    for (const asked of ['ws', protocol] as const) {
      expect(transports.flow({ protocol: asked, address, port: from, host: address }, 'us')).toBe(flow)
      expect(transports.flow({ protocol: asked, address, port: 80, host: address }, 'us')).toBeUndefined()
    }
    client.terminate()
    await sink.until(() => sink.losses.length > 0)
    expect(transports.back(flow, { host: 'df7jal23ls0d.invalid' })).toBeUndefined()
  })

  it('a client without any sign of life is disconnected, another is kept', async () => {
    const dead = await dial({ autoPong: false })
    const alive = await dial()
    dead.send(inviteText)
    alive.send(inviteText)
    await sink.flow(1)
    for (let i = 0; i < 2; i++) {
      const pinged = once(alive, 'ping')
      const ponged = once(dead, 'ping')
      if (i === 0) clock.advance(30_000)
      await Promise.all(i === 0 ? [pinged, ponged] : [])
    }
    alive.send(inviteText)
    await sink.flow(2)
    const closed = once(dead, 'close')
    clock.advance(30_000)
    await closed
    await sink.until(() => sink.losses.length > 0)
    expect([transports.connections, alive.readyState]).toEqual([1, WebSocket.OPEN])
  })

  it('a client that sends too many pings is disconnected', async () => {
    const client = await dial()
    const calm = await dial()
    client.send(inviteText)
    calm.send(inviteText)
    await sink.flow(1)
    const closed = once(client, 'close')
    for (let i = 0; i < 300; i++) {
      client.ping()
      await once(client, 'pong')
    }
    // The count begins anew with each look at the connections.
    const looked = once(calm, 'ping')
    clock.advance(30_000)
    await looked
    for (let i = 0; i < 300; i++) {
      client.ping()
      await once(client, 'pong')
    }
    client.ping()
    await closed
    await sink.until(() => sink.losses.length > 0)
    expect([transports.connections, calm.readyState]).toEqual([1, WebSocket.OPEN])
  })

  it('an upgrade that takes more than 10 s is ended', async () => {
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    await dial()
    const closed = once(socket, 'close')
    socket.resume()
    clock.advance(10_000)
    await closed
    expect(transports.connections).toBe(1)
  })

  it('one source can hold a quarter of the connections', async () => {
    await dial()
    await dial()
    const third = start()
    await once(third, 'error')
    expect(transports.connections).toBe(2)
  })
})

it('two connections from one port of a peer, to two addresses, are distinguished', async () => {
  const sink = new TestSink()
  const clock = new FakeClock()
  const transports = new Transports({
    sink,
    limits: defaultMessageLimits,
    clock,
    maxConnections: 8,
    gatekeeper: openGate,
  })
  await transports.open({ transport: 'ws', address: '0.0.0.0', port: 0 })
  const port = transports.addresses[0]?.port as number
  const first = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.1' })
  await once(first, 'connect')
  const second = connect({ port, host: '127.0.0.2', localAddress: '127.0.0.1', localPort: first.localPort })
  await once(second, 'connect')
  const upgrade =
    'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' +
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: sip\r\n\r\n'
  for (const socket of [first, second]) {
    socket.write(upgrade)
    const [answer] = await once(socket, 'data')
    expect(String(answer)).toMatch(/^HTTP\/1.1 101 /)
    // Only what is still on its way in has a limit of 10 s.
    await new Promise(setImmediate)
  }
  clock.advance(10_000)
  expect([first.destroyed, second.destroyed, transports.connections]).toEqual([false, false, 2])
  for (const socket of [first, second]) socket.destroy()
  await transports.close()
})

it('a plain request gets 426', async () => {
  const sink = new TestSink()
  const options = {
    sink,
    limits: defaultMessageLimits,
    clock: new FakeClock(),
    maxConnections: 8,
    gatekeeper: openGate,
  }
  const transports = new Transports(options)
  await transports.open({ transport: 'ws', address: '127.0.0.1', port: 0 })
  const request = get({ port: transports.addresses[0]?.port, host: '127.0.0.1' })
  const [response] = await once(request, 'response')
  expect([response.statusCode, response.headers.upgrade]).toEqual([426, 'websocket'])
  response.resume()
  await transports.close()
})
