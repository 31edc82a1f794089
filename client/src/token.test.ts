import { describe, expect, it } from 'vitest'
import { connected } from './testing/connected.ts'
import { FakeBrowser, settled } from './testing/fakes.ts'

describe('tokens', () => {
  it('are renewed two minutes before they expire, and again an hour later', async () => {
    let count = 0
    const { browser } = await connected({ onRefreshToken: async () => `fresh-${++count}` })
    browser.clock.advance(3_479_000)
    expect(count).toBe(0)
    browser.clock.advance(1_000)
    await settled()
    expect(browser.socket.requests('signalwire.reauthenticate')[0]?.params).toEqual({
      authentication: { project: 'p', jwt_token: 'fresh-1' },
    })
    browser.socket.reply('signalwire.reauthenticate', {})
    await settled()
    browser.clock.advance(3_480_000)
    await settled()
    expect(count).toBe(2)
  })

  it('are requested again half a minute after the server rejects the new one', async () => {
    const failures: unknown[] = []
    let count = 0
    const { browser, client } = await connected({ onRefreshToken: async () => `fresh-${++count}` })
    client.on('tokenFailed', ({ error }) => failures.push(error))
    browser.clock.advance(3_480_000)
    await settled()
    browser.socket.refuse('signalwire.reauthenticate', -32002, 'No')
    await settled()
    expect(failures).toHaveLength(1)
    browser.clock.advance(30_000)
    await settled()
    expect(count).toBe(2)
  })

  it('accompany HTTP requests to the same host, the latest one', async () => {
    const { browser, client } = await connected()
    const updating = client.updateToken('t2')
    browser.socket.reply('signalwire.reauthenticate')
    await updating
    browser.response = () => new Response(JSON.stringify({ id: 's1', email: 'a@b.c' }))
    expect((await client.getSubscriberInfo()).id).toBe('s1')
    expect(client.httpHost).toBe('localhost:8080')
    expect(browser.fetched[0]).toMatchObject({
      url: 'http://localhost:8080/api/fabric/subscriber/info',
      headers: { authorization: 'Bearer t2' },
    })
    browser.response = () => new Response('{}', { status: 401 })
    await expect(client.getSubscriberInfo()).rejects.toMatchObject({ code: 'auth', serverCode: '401' })
  })

  it('are renewed at once when the machine wakes up after their renewal time', async () => {
    let count = 0
    const { browser } = await connected({ onRefreshToken: async () => `fresh-${++count}` })
    browser.awake()
    expect(count).toBe(0)
    browser.clock.sleep(3_500_000)
    expect(count).toBe(0)
    browser.awake()
    browser.awake()
    await settled()
    expect(count).toBe(1)
    browser.socket.reply('signalwire.reauthenticate', {})
    await settled()
    browser.clock.advance(3_470_000)
    await settled()
    expect(count).toBe(1)
    browser.clock.advance(10_000)
    await settled()
    expect(count).toBe(2)
  })

  it('that expired while the machine slept are replaced when the connection is back', async () => {
    const { browser, client } = await connected({ onRefreshToken: async () => 'fresh' })
    browser.clock.sleep(36_000_000)
    browser.socket.drop()
    browser.awake()
    browser.socket.open()
    browser.socket.refuse('signalwire.connect', -32002, 'The token has expired.')
    await settled()
    expect(browser.socket.requests('signalwire.connect')[1]?.params).toMatchObject({
      protocol: 'signalwire_j_1_p',
      authentication: { jwt_token: 'fresh' },
    })
    browser.socket.reply('signalwire.connect', { protocol: 'signalwire_j_1_p' })
    expect(client.connectionState).toBe('connected')
  })

  it('that have expired by a wrong clock are renewed every half minute only', async () => {
    let count = 0
    const browser = new FakeBrowser()
    browser.clock.sleep(36_000_000)
    await connected({ onRefreshToken: async () => `fresh-${++count}` }, browser)
    for (let second = 0; second < 60; second++) {
      browser.clock.advance(1000)
      await settled()
      if (browser.socket.requests('signalwire.reauthenticate').length > 0)
        browser.socket.reply('signalwire.reauthenticate', {
          authorization: { fabric_subscriber: { expires_at: 1_700_003_600 } },
        })
      await settled()
    }
    expect(count).toBe(2)
  })

  it('that are set without a connection are presented when it is back', async () => {
    const { browser, client } = await connected()
    browser.socket.drop()
    const updating = client.updateToken('t2')
    browser.clock.advance(500)
    browser.socket.welcome()
    expect(browser.socket.requests('signalwire.connect')[0]?.params).toMatchObject({
      authentication: { jwt_token: 't2' },
    })
    browser.socket.reply('signalwire.reauthenticate')
    await updating
  })

  it('may take longer to arrive than a connection lasts: the application is asked once', async () => {
    const fresh = Promise.withResolvers<string>()
    let count = 0
    const { browser, client } = await connected({
      onRefreshToken: () => {
        count++
        return fresh.promise
      },
    })
    browser.socket.drop()
    for (let round = 0; round < 2; round++) {
      browser.clock.advance(2000)
      browser.socket.open()
      browser.socket.refuse('signalwire.connect', -32002, 'The token has expired.')
      await settled()
      if (round === 0) browser.socket.drop()
    }
    fresh.resolve('fresh')
    await settled()
    browser.socket.reply('signalwire.connect', { protocol: 'signalwire_j_1_p' })
    expect(client.connectionState).toBe('connected')
    expect(count).toBe(1)
  })

  it('are not requested again once the client is disconnected', async () => {
    const { browser, client } = await connected({ onRefreshToken: () => Promise.reject(new Error('no')) })
    browser.clock.advance(3_480_000)
    client.disconnect()
    await settled()
    expect(browser.clock.running).toBe(0)
  })

  it('that the server rejects reject with its error, and the old one stays', async () => {
    const { browser, client } = await connected()
    const updating = client.updateToken('wrong')
    browser.socket.refuse('signalwire.reauthenticate', -32002, 'The token has expired.')
    await expect(updating).rejects.toMatchObject({
      code: 'server',
      serverCode: '-32002',
      message: 'The token has expired.',
    })
    expect(client.connectionState).toBe('connected')
    await client.getSubscriberInfo()
    expect(browser.fetched[0]).toMatchObject({ headers: { authorization: 'Bearer t1' } })
  })
})
