import { describe, expect, it } from 'vitest'
import { connected } from './testing/connected.ts'
import { type FakeBrowser, settled } from './testing/fakes.ts'

const host = 'http://localhost:8080'

const answers = (browser: FakeBrowser, ...bodies: readonly object[]) => {
  const left = [...bodies]
  browser.response = () => new Response(JSON.stringify(left.shift()))
}

const refuses = (browser: FakeBrowser, status: number, body: object | string) => {
  browser.response = () => new Response(typeof body === 'string' ? body : JSON.stringify(body), { status })
}

describe('devices', () => {
  const device = { id: 'd1', device_token: 'x', push_notification_key: 'a2V5' }

  it('are registered and removed by the requests of the service', async () => {
    const { browser, client } = await connected()
    answers(browser, device, {})
    expect(await client.registerDevice({ deviceToken: 'x', deviceType: 'Desktop' })).toEqual(device)
    expect(browser.fetched[0]).toMatchObject({
      url: `${host}/subscriber/devices`,
      method: 'POST',
      headers: { authorization: 'Bearer t1', 'content-type': 'application/json' },
      body: { device_token: 'x', device_type: 'Desktop' },
    })
    expect(await client.unregisterDevice({ id: 'd/1' })).toEqual({})
    expect(browser.fetched[1]).toMatchObject({
      url: `${host}/subscriber/devices/d%2F1`,
      method: 'DELETE',
      headers: { authorization: 'Bearer t1' },
      body: undefined,
    })
  })

  it('reject if the server does not respond within half a minute', async () => {
    const { browser, client } = await connected()
    browser.response = () => new Promise(() => {})
    const removing = client.unregisterDevice({ id: 'd1' })
    await settled()
    browser.clock.advance(30_000)
    await expect(removing).rejects.toMatchObject({ code: 'http' })
  })

  it('reject with all errors of the server', async () => {
    const { browser, client } = await connected()
    const errors = [
      { type: 'validation_error', code: 'missing_field', message: 'device_token: is missing.' },
      { code: 'invalid_field', message: 'device_type: no such type.', attribute: 'device_type' },
    ]
    refuses(browser, 422, { errors })
    await expect(client.registerDevice({ deviceToken: '', deviceType: 'iOS' })).rejects.toMatchObject({
      name: 'ClientError',
      code: 'http',
      serverCode: '422',
      message: 'device_token: is missing. device_type: no such type.',
      refusals: [{ code: 'missing_field' }, { code: 'invalid_field', attribute: 'device_type' }],
    })
    refuses(browser, 404, { errors: [{ code: 'not_found', message: 'There is no such device.' }] })
    await expect(client.unregisterDevice({ id: 'd1' })).rejects.toMatchObject({
      code: 'http',
      serverCode: '404',
      message: 'There is no such device.',
    })
  })

  it('reject with a clear message if a proxy responds, or no server', async () => {
    const { browser, client } = await connected()
    refuses(browser, 502, '<html>')
    await expect(client.unregisterDevice({ id: 'd1' })).rejects.toMatchObject({
      code: 'http',
      serverCode: '502',
      refusals: [],
      message: expect.stringContaining('/subscriber/devices/d1: 502'),
    })
    refuses(browser, 200, '<html>')
    await expect(client.getSubscriberInfo()).rejects.toMatchObject({
      code: 'http',
      message: expect.stringContaining('expected JSON'),
    })
    browser.response = () => {
      throw new TypeError('Failed to fetch')
    }
    const reached = client.unregisterDevice({ id: 'd1' })
    await expect(reached).rejects.toMatchObject({ code: 'http', message: expect.stringContaining('reached') })
  })
})

describe('addresses', () => {
  it('are returned in pages', async () => {
    const { browser, client } = await connected()
    const base = '/api/fabric/addresses'
    const link = (page: number) => `https://elsewhere.test${base}?page_number=${page}`
    answers(
      browser,
      { data: [{ id: 'a1' }], links: { self: link(0), first: link(0), next: link(1) } },
      { data: [{ id: 'a2' }], links: { self: link(1), first: link(0), prev: link(0) } },
      { data: [{ id: 'a1' }], links: { next: link(1) } },
    )
    const first = await client.address.getAddresses({
      type: 'room',
      displayName: 'the lobby',
      pageSize: 1,
      sortBy: 'created_at',
      sortOrder: 'desc',
    })
    expect(first).toMatchObject({ data: [{ id: 'a1' }], hasNext: true, hasPrev: false })
    expect(await first.prevPage()).toBeUndefined()
    const second = await first.nextPage()
    expect(second).toMatchObject({ data: [{ id: 'a2' }], hasNext: false, hasPrev: true })
    expect(await second?.nextPage()).toBeUndefined()
    expect(await second?.prevPage()).toMatchObject({ data: [{ id: 'a1' }] })
    // The token is sent to the gateway only, even if a link names another host.
    expect(browser.fetched.map(({ url }) => url.replace(host + base, ''))).toEqual([
      '?type=room&display_name=the+lobby&page_size=1&sort_by=created_at&sort_order=desc',
      '?page_number=1',
      '?page_number=0',
    ])
  })

  it('are found by id and by name', async () => {
    const { browser, client } = await connected()
    answers(browser, { id: 'a1' }, { data: [{ id: 'a2' }], links: {} }, { data: [], links: {} })
    expect(await client.address.getAddress({ id: 'a1' })).toEqual({ id: 'a1' })
    expect(await client.address.getAddress({ name: '/public/bob' })).toEqual({ id: 'a2' })
    await expect(client.address.getAddress({ name: 'jane doe' })).rejects.toMatchObject({
      code: 'unknown_address',
    })
    expect(browser.fetched.map(({ url }) => url.slice(host.length))).toEqual([
      '/api/fabric/addresses/a1',
      '/api/fabric/addresses?name=%2Fpublic%2Fbob',
      '/api/fabric/addresses?name=jane+doe',
    ])
  })
})

describe('conversations', () => {
  it('are listed, read, joined and written to', async () => {
    const { browser, client } = await connected()
    const page = { data: [{ id: 'm1' }], links: {} }
    answers(
      browser,
      page,
      page,
      page,
      page,
      { id: 'm2' },
      { group_id: 'g1' },
      { id: 'm3' },
      { group_id: 'g1' },
    )
    const { conversation, chat } = client
    const lists = [
      await conversation.getConversations({ pageSize: 2 }),
      await conversation.getMessages(),
      await conversation.getConversationMessages({ addressId: 'a1', pageSize: 3 }),
      await chat.getMessages({ addressId: 'a1' }),
    ]
    for (const { data } of lists) expect(data).toEqual([{ id: 'm1' }])
    const message = { addressId: 'a1', text: 'Good morning' }
    expect(await conversation.sendMessage({ ...message, metadata: { order: 7 } })).toEqual({ id: 'm2' })
    expect(await conversation.join({ addressId: 'a1' })).toEqual({ group_id: 'g1' })
    expect(await chat.sendMessage(message)).toEqual({ id: 'm3' })
    expect(await chat.join({ addressId: 'a1' })).toEqual({ group_id: 'g1' })
    const asked = browser.fetched.map(({ method, url, body }) => [
      `${method} ${url.slice(host.length + '/api/fabric/'.length)}`,
      body,
    ])
    const written = { conversation_id: 'a1', text: 'Good morning' }
    expect(asked).toEqual([
      ['GET conversations?page_size=2', undefined],
      ['GET messages', undefined],
      ['GET conversations/a1/messages?page_size=3', undefined],
      ['GET conversations/a1/messages?page_size=10', undefined],
      ['POST messages', { ...written, metadata: { order: 7 } }],
      ['POST conversations/join', { conversation_id: 'a1' }],
      ['POST messages', written],
      ['POST conversations/join', { conversation_id: 'a1' }],
    ])
  })

  it('that were not delivered are reported until the listener is removed', async () => {
    const { browser, client } = await connected()
    let missed = 0
    const listening = client.conversation.onMissed(() => missed++)
    browser.socket.event('events.missed', { event_type: 'subscriber.call' })
    expect(missed).toBe(0)
    browser.socket.event('events.missed', { event_type: 'conversation.message' })
    expect(missed).toBe(1)
    listening.unsubscribe()
    browser.socket.event('events.missed', { event_type: 'conversation.message' })
    expect(missed).toBe(1)
  })

  it('are reported until the listener is removed, also for one address only', async () => {
    const { browser, client } = await connected()
    const all: string[] = []
    const one: string[] = []
    const hearing = client.conversation.subscribe(({ text }) => all.push(text))
    const chatting = client.chat.subscribe({ addressId: 'a1', onMessage: ({ text }) => one.push(text) })
    client.chat.subscribe({
      addressId: 'g1',
      onMessage: () => {
        throw new Error('of the application')
      },
    })
    const say = (conversation_id: string, text: string, group_id = 'g1') =>
      browser.socket.event('conversation.message', { conversation_id, group_id, text })
    say('a1', 'one')
    say('a2', 'two', 'a1')
    say('a2', 'three')
    browser.socket.event('conversation.typing', { conversation_id: 'a1' })
    chatting.unsubscribe()
    say('a1', 'four')
    hearing.unsubscribe()
    say('a1', 'five')
    expect([all, one]).toEqual([
      ['one', 'two', 'three', 'four'],
      ['one', 'two'],
    ])
  })
})
