// @vitest-environment happy-dom
import { ClientError, type ClientOptions } from '@trunkline/client'
import { act, createElement, Suspense, use } from 'react'
import { createRoot } from 'react-dom/client'
import { renderToString } from 'react-dom/server'
import { expect, it, onTestFinished, vi } from 'vitest'
import type { SignalWireOptions } from './sign-in.ts'
import { FakeClient } from './testing/fakes.ts'
import { Probe, rendered } from './testing/rendered.ts'
import { signalWireHook } from './use-signalwire.ts'

const signIn = async (options: Partial<SignalWireOptions> = {}) => {
  const clients: FakeClient[] = []
  const use = signalWireHook((given) => {
    const made = new FakeClient(given)
    clients.push(made)
    return made.client
  })
  const hook = await rendered(use, { token: 't1', ...options })
  return {
    clients,
    hook,
    get client() {
      return clients.at(-1)!
    },
    tell: (run: () => void | Promise<void>) => act(async () => run()),
  }
}

const connected = async (options: Partial<SignalWireOptions> = {}) => {
  const made = await signIn(options)
  await made.tell(() => made.client.becomes('connected'))
  return made
}

it('a component has one client, in strict mode too, once it is connected', async () => {
  const { hook, clients, client, tell } = await signIn({ host: 'gw.test' })
  expect(hook.value).toMatchObject({ state: 'connecting', client: undefined, error: undefined })
  await tell(() => client.becomes('connected'))
  expect(hook.value).toMatchObject({ state: 'connected', client })
  await tell(() => client.becomes('reconnecting'))
  expect(hook.value).toMatchObject({ state: 'reconnecting', client })
  expect(clients).toHaveLength(1)
  expect(client.asked).toEqual(['connect'])
  expect(client.options).toMatchObject({ host: 'gw.test', token: 't1' })
})

it('the client is disconnected with the component', async () => {
  const { hook, client } = await connected()
  await hook.unmount()
  expect(client.asked).toEqual(['connect', 'disconnect'])
})

it('rendering again with equal options changes nothing', async () => {
  const { hook, client, clients } = await connected({ topics: ['office'] })
  const { value } = hook
  await hook.render({ token: 't1', topics: ['office'], userVariables: { order: 7 } })
  expect(hook.value).toBe(value)
  expect(clients).toEqual([client])
  expect(client.asked).toEqual(['connect'])
})

it('without a token no client connects, and removing the token signs out', async () => {
  const { hook, clients } = await signIn({ token: undefined })
  expect(hook.value).toMatchObject({ state: 'disconnected', client: undefined })
  expect(clients).toEqual([])
  await hook.render({ token: 't1' })
  expect(hook.value).toMatchObject({ state: 'connecting' })
  await hook.render({ token: null })
  expect(hook.value).toMatchObject({ state: 'disconnected', client: undefined, error: undefined })
  expect(clients[0]!.asked).toEqual(['connect', 'disconnect'])
})

it('another token renews that of the running client', async () => {
  const { hook, client, clients } = await connected()
  await hook.render({ token: 't2' })
  expect(client.asked).toEqual(['connect', 'token t2'])
  expect(clients).toEqual([client])
  expect(hook.value).toMatchObject({ state: 'connected', client })
})

it('another token before the connection or after a rejection makes another client', async () => {
  const { hook, clients, tell } = await signIn()
  await hook.render({ token: 't2' })
  expect(clients.map(({ options, asked }) => [options.token, asked])).toEqual([
    ['t1', ['connect', 'disconnect']],
    ['t2', ['connect']],
  ])
  const refused = new ClientError('auth', 'The token has ended.')
  await tell(() => clients[1]!.ends(refused))
  expect(hook.value).toMatchObject({ state: 'disconnected', client: undefined, error: refused })
  await hook.render({ token: 't3' })
  expect(clients[2]?.options.token).toBe('t3')
  expect(hook.value).toMatchObject({ state: 'connecting', error: undefined })
})

it('a rejected token is reported, and the client stays', async () => {
  const { hook, client, tell } = await connected()
  const refused = new ClientError('server', 'No such token.')
  client.update = () => Promise.reject(refused)
  await hook.render({ token: 't2' })
  expect(hook.value).toMatchObject({ state: 'connected', client, error: refused })
  client.update = async () => {}
  await hook.render({ token: 't3' })
  expect(hook.value).toMatchObject({ state: 'connected', client, error: undefined })
  await tell(() => client.events.emit('tokenFailed', { error: new Error('no network') }))
  expect(hook.value.error).toMatchObject({ code: 'auth', message: 'onRefreshToken failed: no network' })
})

it('a token that waits for a connection is presented again if the former one is rejected meanwhile', async () => {
  const { hook, client, clients, tell } = await connected()
  const waiting = Promise.withResolvers<void>()
  client.update = () => waiting.promise
  await tell(() => client.becomes('reconnecting'))
  await hook.render({ token: 't2' })
  const refused = new ClientError('auth', 'The token has ended.')
  await tell(() => client.ends(refused))
  await tell(() => waiting.reject(refused))
  expect(clients.map(({ options }) => options.token)).toEqual(['t1', 't2'])
})

it('the token of onRefreshToken is not sent again when the page sets it', async () => {
  const { hook, client, tell } = await connected({ onRefreshToken: async () => 't2' })
  await tell(() => void client.options.onRefreshToken?.())
  await hook.render({ token: 't2' })
  expect(client.asked).toEqual(['connect'])
})

it.each([
  ['host', { host: 'other.test' }],
  ['project', { project: 'p2' }],
  ['topics', { topics: ['home'] }],
])('another %s makes another client', async (_, options) => {
  const { hook, clients } = await connected({ host: 'gw.test', project: 'p1', topics: ['office'] })
  await hook.render({ token: 't1', host: 'gw.test', project: 'p1', topics: ['office'], ...options })
  expect(clients.map(({ asked }) => asked)).toEqual([['connect', 'disconnect'], ['connect']])
  expect(clients[1]?.options).toMatchObject(options)
  expect(hook.value).toMatchObject({ state: 'connecting', client: undefined })
})

it('events of a former client are ignored', async () => {
  const { hook, clients, tell } = await connected({ host: 'one.test' })
  await hook.render({ token: 't1', host: 'two.test' })
  await tell(() => clients[0]!.ends(new ClientError('auth', 'too late')))
  expect(hook.value).toMatchObject({ state: 'connecting', error: undefined })
})

it('callbacks are those of the last render', async () => {
  const { hook, client, tell } = await connected({ incomingCallHandlers: { websocket: vi.fn() } })
  const all = vi.fn()
  const onRefreshToken = vi.fn(async () => 't9')
  await hook.render({ token: 't1', incomingCallHandlers: { all }, onRefreshToken })
  const { incomingCallHandlers, ...options } = client.options
  expect(incomingCallHandlers?.websocket).toBeUndefined()
  expect(incomingCallHandlers?.all).toBe(all)
  await tell(async () => expect(await options.onRefreshToken?.()).toBe('t9'))
  await hook.render({ token: 't1' })
  expect(await options.onRefreshToken?.()).toBe('')
  expect(client.asked).toEqual(['connect'])
})

it('a failed connection is retried on request', async () => {
  const { hook, clients, tell } = await signIn()
  hook.value.connect()
  expect(clients).toHaveLength(1)
  const failed = new ClientError('disconnected', 'Cannot connect.')
  await tell(() => clients[0]!.ends(failed))
  expect(hook.value).toMatchObject({ state: 'disconnected', error: failed })
  await tell(() => hook.value.connect())
  expect(clients).toHaveLength(2)
  expect(hook.value).toMatchObject({ state: 'connecting', error: undefined })
  await tell(() => clients[1]!.becomes('connected'))
  expect(hook.value).toMatchObject({ state: 'connected', client: clients[1] })
})

it('a client that cannot be made is an error', async () => {
  const hook = await rendered(
    signalWireHook(() => {
      throw new ClientError('bad_host', 'host: expected a name')
    }),
    { token: 't1' },
  )
  expect(hook.value).toMatchObject({ state: 'disconnected', error: { code: 'bad_host' } })
})

it('a component that is suspended before its first render has no client until then', async () => {
  const make = vi.fn((options: ClientOptions) => new FakeClient(options).client)
  const useIt = signalWireHook(make)
  const ready = Promise.withResolvers<string>()
  const root = createRoot(document.createElement('div'))
  onTestFinished(() => act(async () => root.unmount()))
  const waits = () => {
    useIt({ token: 't1' })
    return use(ready.promise)
  }
  await act(async () => root.render(createElement(Suspense, null, createElement(Probe, { use: waits }))))
  expect(make).not.toHaveBeenCalled()
  await act(async () => ready.resolve('ready'))
  expect(make).toHaveBeenCalledOnce()
})

it('rendering on a server makes no client', () => {
  const make = vi.fn()
  const use = signalWireHook(make)
  expect(renderToString(createElement(Probe, { use: () => use({ token: 't1' }).state }))).toBe('connecting')
  expect(make).not.toHaveBeenCalled()
})
