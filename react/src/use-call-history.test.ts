// @vitest-environment happy-dom
import { type CallRecord, type Client, ClientError } from '@trunkline/client'
import { act } from 'react'
import { expect, it } from 'vitest'
import { FakeClient } from './testing/fakes.ts'
import { rendered } from './testing/rendered.ts'
import { useCallHistory } from './use-call-history.ts'

const callOf = (id: string) => ({ id }) as CallRecord

const use = ([client, result]: readonly [Client | undefined, ('missed' | undefined)?]) =>
  useCallHistory(client, { ...(result && { result }), pageSize: 1 })

const shown = async () => {
  const fake = new FakeClient({ token: 't1' })
  fake.history.pages = [[callOf('c3')], [callOf('c2')], [callOf('c1')]]
  return { fake, hook: await rendered(use, [fake.client] as Parameters<typeof use>[0]) }
}

const idsOf = ({ value }: { readonly value: ReturnType<typeof use> }) => value.calls.map(({ id }) => id)

it('calls are fetched page by page', async () => {
  const { hook } = await shown()
  expect([idsOf(hook), hook.value.hasMore]).toEqual([['c3'], true])
  await act(async () => hook.value.more())
  expect([idsOf(hook), hook.value.hasMore]).toEqual([['c3', 'c2'], true])
  await act(async () => hook.value.more())
  expect([idsOf(hook), hook.value.hasMore]).toEqual([['c3', 'c2', 'c1'], false])
})

it('a new call appears at the top', async () => {
  const { fake, hook } = await shown()
  fake.history.pages = [[callOf('c4')], ...fake.history.pages]
  await act(async () => {
    for (const listener of fake.history.listeners) listener()
  })
  expect(idsOf(hook)).toEqual(['c4'])
  await hook.unmount()
  expect(fake.history.listeners.size).toBe(0)
})

it('another filter fetches the list anew, and without a client it is empty', async () => {
  const { fake, hook } = await shown()
  await hook.render([fake.client, 'missed'])
  expect(fake.history.requests.at(-1)).toMatchObject({ result: 'missed', pageSize: 1 })
  await hook.render([undefined])
  expect([idsOf(hook), hook.value.hasMore]).toEqual([[], false])
})

it('a failure is reported, and the calls stay', async () => {
  const { fake, hook } = await shown()
  fake.history.fault = new ClientError('http', 'The gateway is busy.')
  await act(async () => hook.value.more())
  expect([idsOf(hook), hook.value.error?.code]).toEqual([['c3'], 'http'])
})
