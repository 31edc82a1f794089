// @vitest-environment happy-dom
import type { Client } from '@trunkline/client'
import { act } from 'react'
import { expect, it } from 'vitest'
import { FakeClient } from './testing/fakes.ts'
import { rendered } from './testing/rendered.ts'
import { usePresence } from './use-presence.ts'

const use = ([client, ...ids]: readonly [Client | undefined, ...string[]]) => usePresence(client, ids)

const shown = async (fake: FakeClient, ...ids: string[]) => {
  const props: Parameters<typeof use>[0] = [fake.client, ...ids]
  return rendered(use, props)
}

it('shows the first states and each change, and ends with the component', async () => {
  const fake = new FakeClient({ token: 't1' })
  fake.presence.states.set('a1', 'online')
  const hook = await shown(fake, 'a1', 'a2')
  expect(hook.value).toEqual({ a1: 'online', a2: undefined })
  await act(async () => fake.presence.becomes('a1', 'in_call'))
  expect(hook.value).toEqual({ a1: 'in_call', a2: undefined })
  await hook.unmount()
  expect([fake.presence.lists.at(-1), fake.presence.listeners.size]).toEqual([[], 0])
})

it('a list with the same content is not watched again', async () => {
  const fake = new FakeClient({ token: 't1' })
  const hook = await shown(fake, 'a1')
  const requests = fake.presence.lists.length
  await hook.render([fake.client, 'a1'])
  expect(fake.presence.lists).toHaveLength(requests)
  await hook.render([fake.client, 'a2'])
  expect(fake.presence.lists.at(-1)).toEqual(['a2'])
})

it('several components watch the addresses of all', async () => {
  const fake = new FakeClient({ token: 't1' })
  const first = await shown(fake, 'a1')
  const second = await shown(fake, 'a1', 'a2')
  expect(fake.presence.lists.at(-1)).toEqual(['a1', 'a2'])
  await second.unmount()
  expect(fake.presence.lists.at(-1)).toEqual(['a1'])
  await act(async () => fake.presence.becomes('a1', 'offline'))
  expect(first.value).toEqual({ a1: 'offline' })
})
