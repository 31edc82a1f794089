import { describe, expect, it, vi } from 'vitest'
import { Client } from './client.ts'
import { connected } from './testing/connected.ts'
import { FakeBrowser } from './testing/fakes.ts'
import { buildVideoElement } from './video-element.ts'

const sent = async (options: Parameters<typeof connected>[0]) => {
  const { browser } = await connected(options)
  return browser.socket.requests('signalwire.connect')[0]?.params.contexts
}

it('contexts are told when connecting; topics go before them', async () => {
  expect(await sent({})).toBeUndefined()
  expect(await sent({ contexts: ['home'] })).toEqual(['home'])
  expect(await sent({ contexts: ['home'], topics: ['office'] })).toEqual(['office'])
})

it('a token of another project is refused', async () => {
  expect((await connected({ project: 'p' })).client.connectionState).toBe('connected')
  const browser = new FakeBrowser()
  const connecting = new Client({ token: 't', project: 'other' }, browser.environment).connect()
  browser.socket.welcome()
  await expect(connecting).rejects.toMatchObject({ code: 'auth', message: expect.stringContaining('other') })
  expect([browser.socket.closed, browser.clock.running]).toEqual([true, 0])
})

it('of the handlers of calls the one for the connection goes before the one for all', async () => {
  const handlers = { all: vi.fn(), websocket: vi.fn(), pushNotification: vi.fn() }
  const { browser } = await connected({ incomingCallHandlers: handlers })
  browser.socket.verto('verto.invite', { callID: 'c1', sdp: 'offer' })
  const counts = Object.values(handlers).map(({ mock }) => mock.calls.length)
  expect(counts).toEqual([0, 1, 0])
  expect(handlers.websocket.mock.calls[0]?.[0].invite.details.source).toBe('websocket')
})

it('a handler for push notifications alone hears nothing of the connection', async () => {
  const pushNotification = vi.fn()
  const { browser } = await connected({ incomingCallHandlers: { pushNotification } })
  browser.socket.verto('verto.invite', { callID: 'c1', sdp: 'offer' })
  expect(pushNotification).not.toHaveBeenCalled()
})

it('hangup() takes the id of its own call, and no other', async () => {
  const { client } = await connected()
  const call = await client.dial({ to: '/public/bob' })
  await expect(call.hangup('another')).rejects.toMatchObject({ code: 'bad_argument' })
  expect(call.state).toBe('new')
  await call.hangup(call.id)
  expect(call.state).toBe('ended')
})

describe('buildVideoElement', () => {
  const built = async (ended = false) => {
    const { client } = await connected()
    const call = await client.dial({ to: '/public/bob' })
    if (ended) await call.hangup()
    const element = { setAttribute: vi.fn(), remove: vi.fn(), srcObject: null, muted: false }
    const append = vi.fn()
    const rootElement = { ownerDocument: { createElement: () => element }, append }
    const made = await buildVideoElement({ call, rootElement: rootElement as unknown as HTMLElement })
    expect(made.element).toBe(element)
    return { call, element, append }
  }

  it('makes a silent element in the root, which goes with the call', async () => {
    const { call, element, append } = await built()
    expect(append).toHaveBeenCalledWith(element)
    expect(element).toMatchObject({ muted: true, srcObject: call.remoteStream })
    await call.hangup()
    expect(element.remove).toHaveBeenCalledTimes(1)
    expect(element.srcObject).toBeNull()
  })

  it('leaves nothing in the root for a call that is over', async () => {
    const { element } = await built(true)
    expect(element.remove).toHaveBeenCalledTimes(1)
  })
})
