import { describe, expect, it } from 'vitest'
import { Client } from './client.ts'
import { connected } from './testing/connected.ts'
import { FakeBrowser, settled } from './testing/fakes.ts'

describe('an application that acts on events', () => {
  it('can connect again as soon as the connection is closed', async () => {
    const { browser, client } = await connected()
    const again = Promise.withResolvers<void>()
    client.on('closed', () => client.connect().then(again.resolve, again.reject))
    client.disconnect()
    browser.socket.welcome()
    await again.promise
    expect(client.connectionState).toBe('connected')
  })

  it('can disconnect as soon as it is connected, and nothing is left', async () => {
    const browser = new FakeBrowser()
    const client = new Client({ token: 't1', onRefreshToken: async () => 'x' }, browser.environment)
    client.on('connection', ({ state }) => state === 'connected' && client.disconnect())
    const connecting = client.connect()
    browser.socket.welcome()
    await expect(connecting).rejects.toMatchObject({ code: 'disconnected' })
    expect(browser.clock.running).toBe(0)
    client.off('connection')
    const again = client.connect()
    const updating = client.updateToken('t2')
    browser.socket.welcome()
    await again
    browser.socket.reply('signalwire.reauthenticate')
    await updating
  })

  it.each(['offline', 'online'] as const)('is %s after its last request', async (last) => {
    const { browser, client } = await connected()
    const first = last === 'offline' ? client.online() : client.offline()
    const second = client[last]()
    await settled()
    for (const { id } of browser.socket.sent.filter(({ method }) =>
      String(method).startsWith('subscriber.'),
    ) as { id: string }[])
      browser.socket.push({ jsonrpc: '2.0', id, result: {} })
    await Promise.all([first, second])
    expect(client.isOnline).toBe(last === 'online')
    expect(
      browser.socket.sent.filter(({ method }) => String(method).startsWith('subscriber.')).at(-1),
    ).toMatchObject({
      method: `subscriber.${last}`,
    })
  })
})
