import { describe, expect, it } from 'vitest'
import { Client } from './client.ts'
import { connected } from './testing/connected.ts'
import { FakeBrowser, settled } from './testing/fakes.ts'

const lose = (browser: FakeBrowser) => {
  browser.socket.drop()
  browser.clock.advance(500)
}

const happensNothing = (browser: FakeBrowser) => {
  const sockets = browser.sockets.length
  browser.network()
  browser.awake()
  browser.socket.replyAll()
  browser.clock.advance(60_000)
  expect(browser.sockets).toHaveLength(sockets)
}

describe('connecting', () => {
  it('presents the token as the service expects, and resolves when it is accepted', async () => {
    const { browser, client } = await connected()
    expect(browser.socket.url).toBe('ws://localhost:8080/')
    expect(browser.socket.requests('signalwire.connect')[0]?.params).toEqual({
      version: { major: 4, minor: 0, revision: 0 },
      event_acks: true,
      agent: '@trunkline/client/0.1.0',
      authentication: { jwt_token: 't1' },
    })
    expect(client.connectionState).toBe('connected')
    await client.connect()
    expect(browser.sockets).toHaveLength(1)
  })

  it('rejects with auth when the token is rejected, and does not retry', async () => {
    const browser = new FakeBrowser()
    const client = new Client({ token: 't1' }, browser.environment)
    const connecting = client.connect()
    browser.socket.open()
    browser.socket.refuse('signalwire.connect', -32002, 'Unauthorized')
    await expect(connecting).rejects.toMatchObject({ code: 'auth', serverCode: '-32002' })
    browser.clock.advance(60_000)
    expect(browser.sockets).toHaveLength(1)
    expect(browser.clock.running).toBe(0)
  })

  it('asks the application for another token once when the first is rejected', async () => {
    const browser = new FakeBrowser()
    const client = new Client({ token: 'old', onRefreshToken: async () => 'new' }, browser.environment)
    const connecting = client.connect()
    browser.socket.open()
    browser.socket.refuse('signalwire.connect', -32002, 'Unauthorized')
    await settled()
    expect(browser.socket.requests('signalwire.connect')[1]?.params).toMatchObject({
      authentication: { jwt_token: 'new' },
    })
    browser.socket.refuse('signalwire.connect', -32002, 'Unauthorized')
    await expect(connecting).rejects.toMatchObject({ code: 'auth' })
  })

  it('rejects when the first connection cannot be made', async () => {
    const browser = new FakeBrowser()
    const connecting = new Client({ token: 't' }, browser.environment).connect()
    browser.socket.drop()
    await expect(connecting).rejects.toMatchObject({ code: 'disconnected' })
    expect(browser.clock.running).toBe(0)
  })

  it('may take ten seconds for the connection, and ten for the handshake', async () => {
    const browser = new FakeBrowser()
    const client = new Client({ token: 't' }, browser.environment)
    const connecting = client.connect()
    browser.clock.advance(9_999)
    browser.socket.open()
    browser.clock.advance(9_999)
    browser.socket.reply('signalwire.connect', { protocol: 'p' })
    await connecting
    expect(client.connectionState).toBe('connected')
  })

  it('rejects when the socket does not open for ten seconds', async () => {
    const browser = new FakeBrowser()
    const connecting = new Client({ token: 't' }, browser.environment).connect()
    browser.clock.advance(10_000)
    await expect(connecting).rejects.toMatchObject({ code: 'disconnected' })
    expect(browser.clock.running).toBe(0)
  })

  it('rejects when the server sends nothing for ten seconds', async () => {
    const browser = new FakeBrowser()
    const connecting = new Client({ token: 't' }, browser.environment).connect()
    browser.socket.open()
    browser.clock.advance(10_000)
    await expect(connecting).rejects.toMatchObject({ code: 'disconnected' })
    expect(browser.socket.closed).toBe(true)
  })
})

describe('a lost connection', () => {
  it('is restored with the protocol and the authorization state of the session', async () => {
    const { browser, client } = await connected()
    browser.socket.event('signalwire.authorization.state', { authorization_state: 'opaque' })
    lose(browser)
    expect(client.connectionState).toBe('reconnecting')
    browser.socket.open()
    expect(browser.socket.requests('signalwire.connect')[0]?.params).toMatchObject({
      protocol: 'signalwire_j_1_p',
      authorization_state: 'opaque',
    })
    browser.socket.reply('signalwire.connect', { protocol: 'signalwire_j_1_p' })
    expect(client.connectionState).toBe('connected')
  })

  it('is retried at growing intervals without an end', async () => {
    const { browser } = await connected()
    const waits: number[] = []
    for (let attempt = 0; attempt < 8; attempt++) {
      const before = browser.clock.now()
      const sockets = browser.sockets.length
      browser.socket.drop()
      while (browser.sockets.length === sockets) browser.clock.advance(25)
      waits.push(browser.clock.now() - before)
    }
    // Three quarters of 500 ms doubled up to 10 s, since the fake's random number is a half.
    expect(waits).toEqual([375, 750, 1500, 3000, 6000, 7500, 7500, 7500])
  })

  it('is retried at growing intervals while the server drops connections at once', async () => {
    const { browser } = await connected()
    const wait = () => {
      const before = browser.clock.now()
      const sockets = browser.sockets.length
      browser.socket.drop()
      while (browser.sockets.length === sockets) browser.clock.advance(25)
      browser.socket.welcome()
      return browser.clock.now() - before
    }
    expect([wait(), wait(), wait()]).toEqual([375, 750, 1500])
    browser.clock.advance(10_000)
    expect(wait()).toBe(375)
  })

  it('is retried at once when the network is back, and when the page becomes visible', async () => {
    const { browser, client } = await connected()
    for (const happens of [() => browser.network(), () => browser.awake()]) {
      browser.socket.drop()
      const sockets = browser.sockets.length
      happens()
      happens()
      expect(browser.sockets).toHaveLength(sockets + 1)
    }
    browser.socket.welcome()
    happensNothing(browser)
    client.disconnect()
    expect(browser.watchers.size).toBe(0)
  })

  it('is detected within ten seconds after the machine wakes up', async () => {
    const { browser, client } = await connected()
    browser.clock.sleep(3_600_000)
    browser.awake()
    expect(browser.socket.requests('signalwire.ping')).toHaveLength(1)
    browser.clock.advance(10_000)
    expect(client.connectionState).toBe('reconnecting')
  })

  it('ends with auth if the token has expired meanwhile and no other is available', async () => {
    const { browser, client } = await connected()
    const reasons: string[] = []
    client.on('closed', ({ reason }) => reasons.push(reason.code))
    lose(browser)
    browser.socket.open()
    browser.socket.refuse('signalwire.connect', -32002, 'The token has expired.')
    await settled()
    expect(reasons).toEqual(['auth'])
    browser.clock.advance(60_000)
    expect(client.connectionState).toBe('disconnected')
    expect(browser.clock.running).toBe(0)
  })

  it('sends an interrupted request again under the same id', async () => {
    const { browser, client } = await connected()
    const online = client.online()
    await settled()
    const first = browser.socket.requests('subscriber.online')[0]
    lose(browser)
    browser.socket.welcome()
    expect(browser.socket.requests('subscriber.online')[0]?.id).toBe(first?.id)
    browser.socket.reply('subscriber.online', { code: '200' })
    await online
    expect(client.isOnline).toBe(true)
  })

  it('goes online again only if the server has lost the session', async () => {
    const { browser, client } = await connected()
    const online = client.online()
    await settled()
    browser.socket.reply('subscriber.online')
    await online
    lose(browser)
    browser.socket.welcome()
    expect(browser.socket.requests('subscriber.online')).toHaveLength(0)
    browser.clock.advance(10_000)
    lose(browser)
    browser.socket.welcome('signalwire_j_2_p')
    expect(browser.socket.requests('subscriber.online')).toHaveLength(1)
  })

  it('starts a new session on the same socket if the server has lost the old one', async () => {
    const { browser, client } = await connected()
    lose(browser)
    browser.socket.open()
    browser.socket.refuse('signalwire.connect', -32002, 'Requester validation failed')
    const clean = browser.socket.requests('signalwire.connect')[1]
    expect(clean?.params).not.toHaveProperty('protocol')
    browser.socket.reply('signalwire.connect', { protocol: 'signalwire_j_2_p' })
    expect(client.connectionState).toBe('connected')
  })

  it('is detected when a reply is missing, and the request rejects', async () => {
    const { browser, client } = await connected()
    const online = client.online()
    await settled()
    browser.clock.advance(10_000)
    await expect(online).rejects.toMatchObject({ code: 'timeout' })
    expect(client.connectionState).toBe('reconnecting')
  })

  it('is detected when the pings of the server stop', async () => {
    const { browser, client } = await connected()
    browser.socket.push({ jsonrpc: '2.0', id: 'p1', method: 'signalwire.ping', params: { timestamp: 12.5 } })
    expect(browser.socket.sent.at(-1)).toEqual({ jsonrpc: '2.0', id: 'p1', result: { timestamp: 12.5 } })
    browser.clock.advance(15_000)
    expect(client.connectionState).toBe('reconnecting')
  })

  it('ignores messages of an abandoned socket', async () => {
    const { browser, client } = await connected()
    const old = browser.socket
    lose(browser)
    browser.socket.welcome()
    old.drop()
    expect(client.connectionState).toBe('connected')
  })
})

describe('frames of the server', () => {
  it('acknowledges every event', async () => {
    const { browser, client } = await connected()
    const seen: unknown[] = []
    client.on('call.state', (params) => seen.push(params))
    browser.socket.push({
      jsonrpc: '2.0',
      id: 'e1',
      method: 'signalwire.event',
      params: { event_type: 'call.state', params: { call_id: 'x' } },
    })
    expect(browser.socket.sent.at(-1)).toEqual({ jsonrpc: '2.0', id: 'e1', result: {} })
    expect(seen).toEqual([{ call_id: 'x' }])
  })

  it('survives invalid frames', async () => {
    const { browser, client } = await connected()
    for (const data of ['', '{', '[]', 'null', '{"id":1}', '{"id":{},"result":1}', 3, new ArrayBuffer(2)])
      browser.socket.raw(data)
    browser.socket.event('webrtc.message', {})
    browser.socket.verto('verto.bye', { callID: 'unknown' })
    browser.socket.event('call.joined', { room_session: { members: 3 } })
    expect(client.connectionState).toBe('connected')
  })

  it('rejects a request whose result has a code other than 2xx', async () => {
    const { browser, client } = await connected()
    const online = client.online()
    await settled()
    browser.socket.reply('subscriber.online', { code: '403', message: 'No' })
    await expect(online).rejects.toMatchObject({ code: 'server', serverCode: '403', message: 'No' })
    expect(client.isOnline).toBe(false)
  })
})

it('disconnect() goes offline, rejects pending requests and leaves no timer; connecting again is possible', async () => {
  const { browser, client } = await connected({ onRefreshToken: async () => 'x' })
  const online = client.online()
  await settled()
  browser.socket.reply('subscriber.online')
  await online
  const pending = client.updateToken('t2')
  const first = browser.socket
  client.disconnect()
  client.disconnect()
  await expect(pending).rejects.toMatchObject({ code: 'disconnected' })
  expect(first.requests('subscriber.offline')).toHaveLength(1)
  expect(first.closed).toBe(true)
  expect(browser.clock.running).toBe(0)
  const again = client.connect()
  browser.socket.welcome()
  await again
  expect(browser.socket.requests('signalwire.connect')[0]?.params).not.toHaveProperty('protocol')
})
