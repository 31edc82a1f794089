import { describe, expect, it, vi } from 'vitest'
import { Client } from './client.ts'
import { connected } from './testing/connected.ts'
import { FakeBrowser, settled } from './testing/fakes.ts'
import { buildVideoElement } from './video-element.ts'

const sent = async (options: Parameters<typeof connected>[0]) => {
  const { browser } = await connected(options)
  return browser.socket.requests('signalwire.connect')[0]?.params.contexts
}

it('contexts are sent when connecting; topics take precedence', async () => {
  expect(await sent({})).toBeUndefined()
  expect(await sent({ contexts: ['home'] })).toEqual(['home'])
  expect(await sent({ contexts: ['home'], topics: ['office'] })).toEqual(['office'])
})

it('a token of another project is rejected', async () => {
  expect((await connected({ project: 'p' })).client.connectionState).toBe('connected')
  const browser = new FakeBrowser()
  const connecting = new Client({ token: 't', project: 'other' }, browser.environment).connect()
  browser.socket.welcome()
  await expect(connecting).rejects.toMatchObject({ code: 'auth', message: expect.stringContaining('other') })
  expect([browser.socket.closed, browser.clock.running]).toEqual([true, 0])
})

it('options of a call override those of the client', async () => {
  const roots = [{}, {}] as HTMLElement[]
  const { browser, client } = await connected({
    audio: { deviceId: 'a' },
    video: true,
    userVariables: { plan: 1 },
    disableUdpIceServers: true,
    rootElement: roots[0],
  })
  const urls = [
    'stun:t.test',
    'turn:t.test',
    'turn:t.test?transport=udp',
    'turn:t.test?transport=tcp',
    'turns:t.test',
  ]
  const turn = [{ urls }]
  const updating = client.updateToken('t2')
  browser.socket.reply('signalwire.reauthenticate', { ice_servers: turn })
  await updating
  const dialled = async (options: object) => {
    void (await client.dial({ to: '/public/bob', nodeId: 'n7', ...options })).start().catch(() => {})
    await settled()
    browser.peer.arrives('audio')
    const invite = browser.socket.requests('verto.invite').at(-1)!
    const { dialogParams } = invite.message.params as { dialogParams: { userVariables: unknown } }
    return {
      media: browser.requested.at(-1),
      servers: browser.peer.configuration.iceServers,
      root: roots.indexOf(browser.roots.at(-1)!),
      variables: dialogParams.userVariables,
      node: invite.params.node_id,
    }
  }
  expect(await dialled({})).toEqual({
    media: { audio: { deviceId: 'a' }, video: true },
    root: 0,
    variables: { plan: 1 },
    node: 'n7',
    servers: [{ urls: ['turn:t.test?transport=tcp', 'turns:t.test'] }],
  })
  const own = { audio: true, video: false, userVariables: { plan: 2 }, disableUdpIceServers: false }
  expect(await dialled({ ...own, rootElement: roots[1] })).toEqual({
    media: { audio: true, video: false },
    root: 1,
    variables: { plan: 2 },
    node: 'n7',
    servers: turn,
  })
})

it('the log has the requested level, and never contains secrets', async () => {
  const written = async (logLevel: 'silent' | 'warn' | 'trace') => {
    const browser = new FakeBrowser()
    const lines: string[] = []
    const write = (...words: unknown[]) => void lines.push(JSON.stringify(words))
    const writer = { error: write, warn: write, info: write, debug: write }
    const client = new Client({ token: 'secret', logLevel }, { ...browser.environment, writer })
    const connecting = client.connect()
    browser.socket.welcome('signalwire_j_1_p', {
      ice_servers: [{ urls: 'turn:t', credential: 'secret of TURN' }],
    })
    await connecting
    browser.socket.event('signalwire.authorization.state', { authorization_state: 'secret state' })
    const updating = client.updateToken('secret too')
    browser.socket.reply('signalwire.reauthenticate')
    await updating
    browser.socket.drop()
    return lines
  }
  expect(await written('silent')).toEqual([])
  expect(await written('warn')).toHaveLength(1)
  const all = await written('trace')
  expect(all.length).toBeGreaterThan(5)
  expect(all.join()).not.toContain('secret')
})

it('the call handler of the connection takes precedence over the general one', async () => {
  const handlers = { all: vi.fn(), websocket: vi.fn(), pushNotification: vi.fn() }
  const { browser } = await connected({ incomingCallHandlers: handlers })
  browser.socket.verto('verto.invite', { callID: 'c1', sdp: 'offer' })
  const counts = Object.values(handlers).map(({ mock }) => mock.calls.length)
  expect(counts).toEqual([0, 1, 0])
  expect(handlers.websocket.mock.calls[0]?.[0].invite.details.source).toBe('websocket')
})

it('a handler for push notifications receives no calls of the connection', async () => {
  const pushNotification = vi.fn()
  const { browser } = await connected({ incomingCallHandlers: { pushNotification } })
  browser.socket.verto('verto.invite', { callID: 'c1', sdp: 'offer' })
  expect(pushNotification).not.toHaveBeenCalled()
})

it('hangup() accepts only the id of its own call', async () => {
  const { client } = await connected()
  const call = await client.dial({ to: '/public/bob' })
  await expect(call.hangup('another')).rejects.toMatchObject({ code: 'bad_argument' })
  expect(call.state).toBe('new')
  await call.hangup(call.id)
  expect(call.state).toBe('ended')
})

describe('buildVideoElement', () => {
  const built = async (ended = false, stream?: 'local') => {
    const { browser, client } = await connected()
    const call = await client.dial({ to: '/public/bob' })
    if (ended) await call.hangup()
    const element = {
      setAttribute: vi.fn(),
      remove: vi.fn(),
      style: { transform: '' },
      srcObject: null as unknown,
      muted: false,
    }
    const append = vi.fn()
    const rootElement = { ownerDocument: { createElement: () => element }, append }
    const made = await buildVideoElement({ call, rootElement: rootElement as unknown as HTMLElement, stream })
    expect(made.element).toBe(element)
    return { browser, call, element, append, made }
  }

  it('creates a muted element in the root, and removes it with the call', async () => {
    const { call, element, append } = await built()
    expect(append).toHaveBeenCalledWith(element)
    expect(element).toMatchObject({ muted: true, srcObject: call.remoteStream, style: { transform: '' } })
    await call.hangup()
    expect(element.remove).toHaveBeenCalledTimes(1)
    expect(element.srcObject).toBeNull()
  })

  it('shows the own camera mirrored once it is open', async () => {
    const { browser, call, element, made } = await built(false, 'local')
    expect(element).toMatchObject({ srcObject: null, style: { transform: 'scaleX(-1)' } })
    void call.start().catch(() => {})
    await settled()
    browser.socket.reply('verto.invite', { code: '200' })
    await settled()
    expect(element.srcObject).toBe(call.localStream)
    made.unsubscribe()
    browser.socket.verto('verto.answer', { callID: call.id, sdp: 'their answer' })
    await settled()
    expect(element.srcObject).toBeNull()
  })

  it('leaves nothing in the root for an ended call', async () => {
    const { element } = await built(true)
    expect(element.remove).toHaveBeenCalledTimes(1)
  })
})
