// @vitest-environment happy-dom
import { type Client, ClientError } from '@trunkline/client'
import { act } from 'react'
import { expect, it } from 'vitest'
import { FakeClient, invitation } from './testing/fakes.ts'
import { rendered } from './testing/rendered.ts'
import { useIncomingCalls } from './use-incoming-calls.ts'

const use = (client: Client | undefined) => useIncomingCalls(client)

const waiting = async (prepare: (fake: FakeClient) => void = () => {}) => {
  const fake = new FakeClient({ token: 't1' })
  prepare(fake)
  return { fake, hook: await rendered(use, fake.client as Client | undefined) }
}

it('a component is online while it is mounted, and goes online once, in strict mode too', async () => {
  const { fake, hook } = await waiting()
  expect(hook.value).toEqual({ invites: [], online: true, error: undefined })
  await hook.unmount()
  expect(fake.asked).toEqual(['online', 'offline'])
  expect(fake.events.size).toBe(0)
})

it('calls wait in the list until they are settled', async () => {
  const { fake, hook } = await waiting()
  const first = invitation()
  const second = invitation()
  await act(async () => {
    for (const { invite } of [first, second]) fake.handlers?.all?.({ invite })
  })
  expect(hook.value.invites).toEqual([first.invite, second.invite])
  await act(async () => first.settle())
  expect(hook.value.invites).toEqual([second.invite])
})

it('without a client no call rings, and the next client goes online', async () => {
  const { fake, hook } = await waiting()
  await hook.render(undefined)
  expect(hook.value).toEqual({ invites: [], online: false, error: undefined })
  expect(fake.asked).toEqual(['online', 'offline'])
  const next = new FakeClient({ token: 't2' })
  await hook.render(next.client)
  expect(next.asked).toEqual(['online'])
  expect(hook.value.online).toBe(true)
})

it('a component that is removed while it goes online ends offline', async () => {
  const gate = Promise.withResolvers<void>()
  const { fake, hook } = await waiting((client) => {
    client.goOnline = () => gate.promise
  })
  expect(hook.value.online).toBe(false)
  await hook.unmount()
  expect(fake.asked).toEqual(['online'])
  await act(async () => gate.resolve())
  expect(fake.asked).toEqual(['online', 'offline'])
})

it('a rejection is reported, and the request is not repeated', async () => {
  const refused = new ClientError('server', 'Too many devices.')
  const { fake, hook } = await waiting((client) => {
    client.goOnline = () => Promise.reject(refused)
  })
  expect(hook.value).toEqual({ invites: [], online: false, error: refused })
  expect(fake.asked).toEqual(['online'])
})

it('a rejected request is repeated on a new connection', async () => {
  const { fake, hook } = await waiting((client) => {
    client.goOnline = () => Promise.reject(new ClientError('session_lost', 'The server gave the session up.'))
  })
  fake.goOnline = async () => {}
  await act(async () => fake.becomes('reconnecting'))
  expect(fake.asked).toEqual(['online'])
  await act(async () => fake.becomes('connected'))
  expect(hook.value).toEqual({ invites: [], online: true, error: undefined })
  await act(async () => fake.becomes('connected'))
  expect(fake.asked).toEqual(['online', 'online'])
  await hook.unmount()
  expect(fake.events.size).toBe(0)
})

it('a request that the server lost with its session is repeated', async () => {
  const forgotten = Promise.withResolvers<void>()
  const { fake, hook } = await waiting((client) => {
    client.goOnline = () => forgotten.promise
  })
  await act(async () => {
    fake.goOnline = async () => {}
    forgotten.reject(new ClientError('session_lost', 'The server gave the session up.'))
    fake.becomes('connected')
  })
  expect(fake.asked).toEqual(['online', 'online'])
  expect(hook.value).toEqual({ invites: [], online: true, error: undefined })
})

it('a client that is closed is not online', async () => {
  const { fake, hook } = await waiting()
  await act(async () => fake.ends(new ClientError('auth', 'The token has ended.')))
  expect(hook.value.online).toBe(false)
})
