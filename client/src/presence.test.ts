import { describe, expect, it } from 'vitest'
import { connected } from './testing/connected.ts'
import { settled } from './testing/fakes.ts'

const watching = async () => {
  const { browser, client } = await connected()
  const changes: string[] = []
  const listener = client.presence.subscribe(({ address_id, state }) =>
    changes.push(`${address_id} ${state}`),
  )
  const watch = client.presence.watch(['a1', 'a2', 'a1'])
  expect(browser.socket.requests('presence.watch')[0]?.params).toEqual({ address_ids: ['a1', 'a2'] })
  browser.socket.reply('presence.watch', { code: '200', presence: [{ address_id: 'a1', state: 'online' }] })
  await watch
  return { browser, client, changes, listener }
}

describe('presence', () => {
  it('has the first states, and reports each change once', async () => {
    const { browser, client, changes, listener } = await watching()
    expect([client.presence.of('a1'), client.presence.of('a2')]).toEqual(['online', undefined])
    for (const state of ['in_call', 'in_call', 'online'])
      browser.socket.event('presence.changed', { address_id: 'a1', state })
    browser.socket.event('presence.changed', { address_id: 'other', state: 'online' })
    expect(changes).toEqual(['a1 online', 'a1 in_call', 'a1 online'])
    listener.unsubscribe()
    browser.socket.event('presence.changed', { address_id: 'a1', state: 'offline' })
    expect([changes.length, client.presence.of('a1')]).toEqual([3, 'offline'])
  })

  it('is watched again after a lost connection', async () => {
    const { browser, client, changes } = await watching()
    browser.socket.drop()
    browser.clock.advance(500)
    browser.socket.welcome('signalwire_j_2_p')
    browser.socket.reply('presence.watch', { presence: [{ address_id: 'a1', state: 'do_not_disturb' }] })
    await settled()
    expect([client.presence.of('a1'), changes.at(-1)]).toEqual(['do_not_disturb', 'a1 do_not_disturb'])
  })

  it('forgets the state of a subscriber, with an event, who was removed while the connection was lost', async () => {
    const { browser, client, changes } = await watching()
    browser.socket.drop()
    browser.clock.advance(500)
    browser.socket.welcome('signalwire_j_2_p')
    browser.socket.reply('presence.watch', { presence: [] })
    await settled()
    expect(client.presence.of('a1')).toBeUndefined()
    expect(changes).toEqual(['a1 online', 'a1 undefined'])
  })

  it('forgets addresses that are not watched any more', async () => {
    const { browser, client, changes } = await watching()
    const watch = client.presence.watch([])
    browser.socket.reply('presence.watch', { presence: [] })
    await watch
    expect(client.presence.of('a1')).toBeUndefined()
    expect(changes).toEqual(['a1 online'])
    await expect(
      client.presence.watch(Array.from({ length: 201 }, (_, at) => `${at}`)),
    ).rejects.toMatchObject({
      code: 'bad_argument',
    })
  })

  it('sets and returns do not disturb', async () => {
    const { browser, client } = await connected()
    const set = client.presence.setDoNotDisturb(true)
    expect(browser.socket.requests('subscriber.do_not_disturb')[0]?.params).toEqual({ enabled: true })
    browser.socket.reply('subscriber.do_not_disturb', { code: '200', enabled: true })
    await set
    const get = client.presence.getDoNotDisturb()
    browser.socket.reply('subscriber.do_not_disturb', { code: '200', enabled: true })
    expect(await get).toBe(true)
  })
})
