import { expect, it } from 'vitest'
import type { DeviceCall } from './device-call.ts'
import type { Push } from './push.ts'
import { ReplaceablePush } from './replaceable-push.ts'

/** Notifications of one configuration; what is under way ends with `finish`. */
const pushOf = (sending: number) => {
  const over = Promise.withResolvers<void>()
  const done: string[] = []
  const call = {} as DeviceCall
  const push = {
    sending,
    call: async () => call,
    retire: () => {
      done.push('retired')
      return over.promise
    },
    close: async () => void done.push('closed'),
  } as unknown as Push
  return { push, call, done, finish: over.resolve }
}

it('notifies devices by the current settings, and lets older notifications finish', async () => {
  const first = pushOf(2)
  const second = pushOf(1)
  const push = new ReplaceablePush(first.push)
  expect(await push.call('alice', false)).toBe(first.call)
  push.change(second.push)
  expect(await push.call('alice', false)).toBe(second.call)
  expect([push.sending, first.done]).toEqual([3, ['retired']])
  first.finish()
  await new Promise(setImmediate)
  expect(push.sending).toBe(1)
  push.change(undefined)
  expect(await push.call('alice', false)).toBeUndefined()
  await push.close()
  expect(second.done).toEqual(['retired', 'closed'])
  expect(first.done).toEqual(['retired'])
})
