import { expect, it } from 'vitest'
import { PeoplePresence, type PresenceDeps } from './presence.ts'

const setUp = (fails = false) => {
  const asked: unknown[] = []
  const ask = async (what: unknown) => {
    asked.push(what)
    if (fails) throw new Error('away')
  }
  const presence = {
    of: () => 'online',
    subscribe: () => ({ unsubscribe: () => asked.push('end') }),
    watch: (ids: readonly string[]) => ask(ids),
    getDoNotDisturb: async () => true,
    setDoNotDisturb: (on: boolean) => ask(on),
  }
  const failed = () => asked.push('failed')
  const deps = { client: { presence }, changed: () => {}, failed } as unknown as PresenceDeps
  return { presence: new PeoplePresence(deps), asked }
}

it('the same people are watched once, until the list changes', () => {
  const { presence, asked } = setUp()
  for (const ids of [['a', 'b'], ['a', 'b'], ['a']]) presence.watch(ids)
  expect(asked).toEqual([['a', 'b'], ['a']])
})

it('do not disturb is read and changed, and a failure is reported', async () => {
  const { presence } = setUp()
  await presence.load()
  expect(presence.doNotDisturb).toBe(true)
  await presence.setDoNotDisturb(false)
  expect(presence.doNotDisturb).toBe(false)
  const away = setUp(true)
  await away.presence.setDoNotDisturb(true)
  expect([away.presence.doNotDisturb, away.asked]).toEqual([false, [true, 'failed']])
})
