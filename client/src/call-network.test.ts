import { describe, expect, it } from 'vitest'
import type { Call } from './call.ts'
import { settled } from './testing/fakes.ts'
import { answered, dialled, released, setUp } from './testing/situations.ts'

const watched = (call: Call): string[] => {
  const events: string[] = []
  for (const name of ['media.connected', 'media.reconnecting', 'media.disconnected'] as const)
    call.on(name, () => events.push(name.slice(6)))
  return events
}

const inCall = async () => {
  const { browser, client } = await setUp()
  const call = await answered(browser, client)
  const events = watched(call)
  browser.peer.become('connected')
  expect([events.splice(0), call.hasMedia]).toEqual([['connected'], true])
  const restarts = () => browser.socket.requests('verto.modify').length
  return { browser, client, call, events, restarts }
}

describe('the media path', () => {
  it('is restored by an ICE restart when it breaks', async () => {
    const { browser, call, events } = await inCall()
    browser.peer.become('failed')
    await settled()
    expect(browser.peer.offers[1]).toEqual({ iceRestart: true })
    browser.socket.reply('verto.modify', { action: 'updateMedia', sdp: 'new answer' })
    await settled()
    expect(browser.peer.remote.at(-1)?.sdp).toBe('new answer')
    browser.peer.become('connected')
    expect(events).toEqual(['reconnecting', 'connected'])
    expect(call.active).toBe(true)
  })

  it('is restored with the latest TURN servers', async () => {
    const { browser, client } = await inCall()
    const updating = client.updateToken('t2')
    const iceServers = [{ urls: 'turn:new.test', username: 'later', credential: 'c' }]
    browser.socket.reply('signalwire.reauthenticate', { ice_servers: iceServers })
    await updating
    expect(browser.peer.configuration.iceServers).toEqual([])
    browser.network()
    await settled()
    expect(browser.peer.configuration).toEqual({ bundlePolicy: 'max-compat', iceServers })
  })

  it('ends the call on both sides if the server rejects the restart', async () => {
    const { browser, call, events } = await inCall()
    browser.peer.become('failed')
    await settled()
    browser.socket.reply('verto.modify', { code: '500' })
    await settled()
    expect(call.reason?.code).toBe('media_lost')
    expect(events).toEqual(['reconnecting', 'disconnected'])
    expect(browser.socket.requests('verto.bye')).toHaveLength(1)
    released(browser)
  })

  it('that breaks before the answer is restored after it', async () => {
    const { browser, client } = await setUp()
    const { call, started } = await dialled(client)
    browser.socket.reply('verto.invite', { code: '200' })
    browser.socket.verto('verto.media', { callID: call.id, sdp: 'their answer' })
    await settled()
    browser.peer.become('failed')
    await settled()
    expect(browser.socket.requests('verto.modify')).toHaveLength(0)
    browser.socket.verto('verto.answer', { callID: call.id })
    await started
    await settled()
    expect(browser.socket.requests('verto.modify')).toHaveLength(1)
  })

  it('that does not come up after the answer is negotiated again', async () => {
    const { browser, client } = await setUp()
    const call = await answered(browser, client)
    const events = watched(call)
    browser.peer.become('connecting')
    await settled()
    browser.clock.advance(9_999)
    expect(events).toEqual([])
    browser.clock.advance(1)
    expect([events, call.hasMedia]).toEqual([['reconnecting'], false])
  })

  it('is restored on another network', async () => {
    const { browser, restarts } = await inCall()
    browser.network()
    await settled()
    expect(restarts()).toBe(1)
  })

  it('is restored when the gateway reports the death of its media server', async () => {
    const { browser, call, events, restarts } = await inCall()
    browser.socket.verto('verto.renew', { callID: call.id })
    await settled()
    expect(restarts()).toBe(1)
    browser.socket.reply('verto.modify', { action: 'updateMedia', sdp: 'new answer' })
    await settled()
    expect(events).toEqual(['reconnecting', 'connected'])
  })

  it('waits for a lost connection, which is retried at once on another network', async () => {
    const { browser, call, events, restarts } = await inCall()
    browser.clock.advance(60_000)
    browser.socket.drop()
    browser.peer.become('failed')
    const sockets = browser.sockets.length
    browser.network()
    expect(browser.sockets).toHaveLength(sockets + 1)
    browser.socket.welcome()
    await settled()
    expect(restarts()).toBe(1)
    browser.socket.reply('verto.modify', { action: 'updateMedia', sdp: 'new answer' })
    await settled()
    browser.peer.become('connected')
    expect(events).toEqual(['reconnecting', 'connected'])
    expect(call.active).toBe(true)
  })

  it('of an ended call is not restored; after the last call the page is not watched', async () => {
    const { browser, client, call, restarts } = await inCall()
    void call.hangup()
    browser.network()
    await settled()
    expect(restarts()).toBe(0)
    client.disconnect()
    expect(browser.watchers.size).toBe(0)
  })
})
