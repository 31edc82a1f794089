import { describe, expect, it } from 'vitest'
import { Client } from './client.ts'
import { connected } from './testing/connected.ts'
import { FakeBrowser, settled } from './testing/fakes.ts'

const inCall = async (full = false) => {
  const { browser, client } = await connected()
  browser.full = full
  const call = await client.dial({ to: '/public/bob' })
  const started = call.start()
  await settled()
  browser.socket.reply('verto.invite', { code: '200' })
  browser.socket.verto('verto.answer', { callID: call.id, sdp: 'their answer' })
  await started
  return { browser, client, call }
}

describe('a reloaded page', () => {
  it('continues its session and recovers its call', async () => {
    const { browser, call } = await inCall()
    const { client } = await connected({}, browser)
    expect(browser.socket.requests('signalwire.connect')[0]?.params).toMatchObject({
      protocol: 'signalwire_j_1_p',
    })
    const again = await client.reattach({ video: true })
    expect(again).toMatchObject({ id: call.id, to: '/public/bob', state: 'new' })
    expect(await client.reattach()).toBe(again)
    const started = again.start()
    await settled()
    const invite = browser.socket.requests('verto.invite')[0]
    expect(invite?.message.params).toMatchObject({
      sdp: 'offer 1',
      dialogParams: { attach: true, reattaching: true, callID: call.id, destination_number: 'room' },
    })
    expect(browser.requested.at(-1)).toEqual({ audio: true, video: true })
    browser.socket.verto('verto.answer', { callID: call.id, sdp: 'another answer' })
    await started
    const digits = again.sendDigits('1')
    browser.socket.reply('verto.info')
    await digits
    expect(browser.socket.requests('verto.info')[0]?.message.params).toMatchObject({
      dialogParams: { attach: false, reattaching: false },
    })
  })

  it('can hang up the call that it did not recover', async () => {
    const { browser } = await inCall()
    const { client } = await connected({}, browser)
    void (await client.reattach()).hangup()
    expect(browser.socket.requests('verto.bye')).toHaveLength(1)
  })

  it('has no call to recover if the server has lost the session', async () => {
    const { browser } = await inCall()
    const { client } = await connected({}, browser, 'signalwire_j_2_p')
    await expect(client.reattach()).rejects.toMatchObject({ code: 'session_lost' })
    expect(browser.kept.size).toBe(0)
  })

  it('retries with the session after a failed connection', async () => {
    const { browser } = await inCall()
    browser.unloaded()
    const client = new Client({ token: 't1' }, browser.environment)
    const failing = client.connect()
    await settled()
    browser.socket.drop()
    await expect(failing).rejects.toMatchObject({ code: 'disconnected' })
    const connecting = client.connect()
    await settled()
    browser.socket.welcome()
    await connecting
    expect((await client.reattach()).state).toBe('new')
  })
})

describe('a duplicated tab', () => {
  it('has a session of its own, and the call stays with the first tab', async () => {
    const { browser, client, call } = await inCall()
    const copy = browser.duplicated()
    const other = new Client({ token: 't1' }, copy.environment)
    const connecting = other.connect()
    await settled()
    expect(copy.socket.requests('signalwire.connect')).toEqual([])
    copy.socket.welcome('signalwire_j_2_p')
    await connecting
    expect(copy.socket.requests('signalwire.connect')[0]?.params).not.toHaveProperty('protocol')
    await expect(other.reattach()).rejects.toMatchObject({ code: 'session_lost' })
    expect([copy.kept.size, browser.kept.size, call.state]).toEqual([0, 1, 'active'])
    expect(await client.reattach()).toBe(call)
    // From now on each tab has its own session.
    expect([...browser.claims]).toEqual([
      'trunkline.session.signalwire_j_1_p',
      'trunkline.session.signalwire_j_2_p',
    ])
  })

  it('can continue the session once the first tab is closed', async () => {
    const { browser, client, call } = await inCall()
    const copy = browser.duplicated()
    // No hang-up is sent.
    expect(client.connectionState).toBe('connected')
    browser.unloaded()
    const other = new Client({ token: 't1' }, copy.environment)
    const connecting = other.connect()
    await settled()
    copy.socket.welcome()
    await connecting
    expect((await other.reattach()).id).toBe(call.id)
  })

  it('that is disconnected while it waits for the session does not connect', async () => {
    const { browser } = await inCall()
    const copy = browser.duplicated()
    const asked = Promise.withResolvers<(() => void) | undefined>()
    const other = new Client({ token: 't1' }, { ...copy.environment, claim: () => asked.promise })
    const first = other.connect()
    const second = other.connect()
    other.disconnect()
    let given = 0
    asked.resolve(() => given++)
    for (const connecting of [first, second])
      await expect(connecting).rejects.toMatchObject({ code: 'disconnected' })
    expect([given, copy.sockets.length, other.connectionState]).toEqual([1, 0, 'disconnected'])
  })
})

describe('a session is released', () => {
  it.each([
    ['when the client is disconnected', (client: Client) => client.disconnect()],
    [
      'when it is another one',
      (_client: Client, browser: FakeBrowser) => {
        browser.socket.drop()
        browser.clock.advance(500)
        browser.socket.welcome('signalwire_j_2_p')
      },
    ],
  ])('%s', async (_when, end) => {
    const { browser, client } = await connected()
    expect([...browser.claims]).toEqual(['trunkline.session.signalwire_j_1_p'])
    end(client, browser)
    await settled()
    expect(browser.claims.has('trunkline.session.signalwire_j_1_p')).toBe(false)
  })
})

describe('no call can be recovered', () => {
  const reloaded = async (browser: FakeBrowser) => {
    const { client } = await connected({}, browser)
    expect(browser.socket.requests('signalwire.connect')[0]?.params).not.toHaveProperty('protocol')
    await expect(client.reattach()).rejects.toMatchObject({ code: 'session_lost' })
  }

  it('after hanging up', async () => {
    const { browser, call } = await inCall()
    void call.hangup()
    await reloaded(browser)
  })

  it('after the far side has hung up', async () => {
    const { browser, call } = await inCall()
    browser.socket.verto('verto.bye', { callID: call.id, cause: 'NORMAL_CLEARING', causeCode: '16' })
    await reloaded(browser)
  })

  it('after the far side has hung up during the reload', async () => {
    const { browser, call } = await inCall()
    const { client } = await connected({}, browser)
    browser.socket.verto('verto.bye', { callID: call.id, cause: 'NORMAL_CLEARING', causeCode: '16' })
    await expect(client.reattach()).rejects.toMatchObject({ code: 'session_lost' })
  })

  it('after disconnect()', async () => {
    const { browser } = await inCall()
    const { client } = await connected({}, browser)
    client.disconnect()
    await reloaded(browser)
  })

  it('if the storage is full; the call continues', async () => {
    const { browser, call } = await inCall(true)
    expect(call.state).toBe('active')
    await reloaded(browser)
  })

  it('if nothing can be stored, or the stored data is invalid', async () => {
    const browser = new FakeBrowser()
    browser.kept.set('trunkline.call', '{"id":7')
    await reloaded(browser)
    const client = new Client({ token: 't1' }, { ...browser.environment, storage: undefined })
    const connecting = client.connect()
    browser.socket.welcome()
    await connecting
    await expect(client.reattach()).rejects.toMatchObject({ code: 'session_lost' })
  })
})
